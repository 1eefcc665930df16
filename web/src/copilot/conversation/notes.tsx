// Notes between the sections of a response.

import { FoldVertical, Hourglass } from 'lucide-react';
import type { DataParts } from '@/protocol';
import { Badge, type Tone } from '@/ui/feedback/badge';
import { Markdown } from '@/ui/markdown/markdown';
import { Fold } from '@/ui/page/fold';
import { count } from '@/ui/text/format';

export function CompactionNote({ data }: { data: DataParts['compaction'] }) {
  return (
    <div className="flex items-start gap-2 border-y border-dashed border-line py-2 text-sm text-muted">
      <FoldVertical aria-hidden className="mt-0.5 size-4 shrink-0" />
      <div className="min-w-0 flex-1">
        <Fold title="Earlier messages were summarized for the model">
          <p className="mb-2">You can still read all {count(data.folded)} messages.</p>
          {data.summary && <Markdown text={data.summary} />}
        </Fold>
      </div>
    </div>
  );
}

type Status = DataParts['background']['status'];

const STATES: Record<string, { tone: Tone; label: string }> = {
  still_running: { tone: 'accent', label: 'Running' },
  completed: { tone: 'good', label: 'Finished' },
  cancelled: { tone: 'neutral', label: 'Canceled when the response ended' },
  error: { tone: 'bad', label: 'Failed' },
};

export function BackgroundNote({ calls }: { calls: DataParts['background'][] }) {
  return (
    <ul aria-label="Background calls" className="flex flex-col gap-1 text-sm text-muted">
      {calls.map((call) => {
        const { tone, label } = stateOf(call.status);
        return (
          <li key={call.toolCallId} className="flex flex-wrap items-center gap-2">
            <Hourglass aria-hidden className="size-4 shrink-0" />
            <span className="[overflow-wrap:anywhere]">{call.toolName} in the background</span>
            <Badge tone={tone}>{label}</Badge>
          </li>
        );
      })}
    </ul>
  );
}

function stateOf(status: Status): { tone: Tone; label: string } {
  return STATES[status] ?? { tone: 'neutral', label: status.replaceAll('_', ' ') };
}
