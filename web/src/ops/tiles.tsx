import type { ReactNode } from 'react';
import type { OpenWork, OpsOverview } from '@/protocol';
import { count, duration } from '@/ui/text/format';
import { type Sample, UNAVAILABLE } from './overview';
import { Sparkline } from './sparkline';

/** Key figures with charts of the last minutes. */
export function Tiles({ overview, samples }: { overview: OpsOverview; samples: Sample[] }) {
  const lag = overview.queue.outbox_lag_seconds;
  return (
    <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
      <Tile
        title="Active responses"
        value={overview.turns.running}
        values={samples.map(({ turns }) => turns)}
      >
        {queuedText(overview.turns)}
      </Tile>
      <Tile
        title="Active runs"
        value={overview.executions.running}
        values={samples.map(({ executions }) => executions)}
      >
        {queuedText(overview.executions)}
      </Tile>
      <Tile title="Queue" value={overview.queue.depth} values={samples.map(({ depth }) => depth)}>
        {lag == null ? UNAVAILABLE : lag > 0 ? `outbox ${duration(lag * 1000)} behind` : 'nothing pending'}
      </Tile>
      <Tile title="Open streams" value={overview.streams.open} values={samples.map(({ streams }) => streams)}>
        connected clients
      </Tile>
    </div>
  );
}

type TileProps = {
  title: string;
  value: number | null | undefined;
  values: (number | null)[];
  children: ReactNode;
};

function Tile({ title, value, values, children }: TileProps) {
  return (
    <section className="flex min-w-0 flex-col rounded-2xl border border-line bg-surface px-4 pt-3 pb-2">
      <h2 className="text-sm text-muted">{title}</h2>
      <p className="text-3xl font-semibold tabular-nums">{value == null ? '–' : count(value)}</p>
      <p className="mb-2 min-h-8 text-xs text-muted lg:min-h-0">{children}</p>
      <div className="mt-auto">
        <Sparkline values={values} />
      </div>
    </section>
  );
}

function queuedText({ queued, oldest_queued_seconds: oldest }: OpenWork): string {
  if (queued == null) return UNAVAILABLE;
  if (queued === 0) return 'none queued';
  return `${count(queued)} queued${oldest ? `, oldest ${duration(oldest * 1000)}` : ''}`;
}
