import { Check, ChevronRight, CircleAlert, CircleDot, CirclePause, CircleSlash } from 'lucide-react';
import type { ReactNode } from 'react';
import { classes } from '@/ui/classes';
import { Spinner } from '@/ui/feedback/spinner';
import { elapsedText, useElapsed } from '@/ui/text/use-elapsed';
import { type Call, resultText } from './call';
import { type LabelsFor, useToolLabels } from './tool-labels';
import type { CallStatus } from './types';

/** The elapsed time is shown for calls that take longer than this. */
const SHOW_ELAPSED_AFTER_MS = 3_000;

type Props = {
  call: Call;
  open: boolean;
  onToggle: () => void;
  bodyId: string;
};

/** The row of a call: tool, phrase, note and status. Clicking it opens the card. */
export function CardHead({ call, open, onToggle, bodyId }: Props) {
  const labelsFor = useToolLabels();
  const { label, Icon } = labelsFor(call.tool);
  const note = resultText(call, 'note', labelsFor);
  return (
    <button
      type="button"
      aria-expanded={open}
      aria-controls={open ? bodyId : undefined}
      onClick={onToggle}
      className="group/head flex min-h-10 w-full min-w-0 items-center gap-2.5 rounded-xl px-3 py-1.5 text-left text-sm"
    >
      <Icon
        aria-hidden
        className={classes('size-4 shrink-0', call.status === 'failed' ? 'text-bad' : 'text-muted')}
      />
      <span className="min-w-0 flex-1 truncate">
        <span className="font-medium">{label}</span>
        <span className="text-muted"> {phraseOf(call, labelsFor)}</span>
      </span>
      {note && <span className="max-w-[45%] shrink-0 truncate text-xs text-muted tabular-nums">{note}</span>}
      <Elapsed status={call.status} />
      <StatusIcon status={call.status} />
      <ChevronRight
        aria-hidden
        className={classes(
          'size-4 shrink-0 text-muted opacity-60 transition-transform group-hover/head:opacity-100',
          open && 'rotate-90',
        )}
      />
    </button>
  );
}

/** "Searching for “tides”", then "Searched for “tides”"; for a failure, the error message. */
function phraseOf(call: Call, labelsFor: LabelsFor): string {
  const { tool, input, status, failure } = call;
  const { doing, done, waiting, objectOf } = labelsFor(tool);
  if (failure) return failure;
  const unfinished = status === 'preparing' || status === 'running' || status === 'stopped';
  const phrase = status === 'running' ? null : resultText(call, 'phrase', labelsFor);
  const verb = unfinished ? doing : status === 'waiting' ? (waiting ?? done) : done;
  return phrase ?? [verb, objectOf(input)].filter(Boolean).join(' ');
}

function Elapsed({ status }: { status: CallStatus }) {
  const running = status === 'running' || status === 'preparing';
  const elapsed = useElapsed(running);
  if (!running || elapsed < SHOW_ELAPSED_AFTER_MS) return null;
  return <span className="shrink-0 text-xs text-muted tabular-nums">{elapsedText(elapsed)}</span>;
}

const STATUS_ICONS: Record<CallStatus, { label: string; icon: ReactNode }> = {
  preparing: { label: 'preparing', icon: <Spinner className="text-accent" /> },
  running: { label: 'running', icon: <Spinner className="text-accent" /> },
  background: {
    label: 'in the background',
    icon: <CircleDot className="size-4 animate-pulse text-accent" />,
  },
  waiting: { label: 'needs your input', icon: <CirclePause className="size-4 text-warn" /> },
  done: { label: 'done', icon: <Check className="size-4 text-good" /> },
  failed: { label: 'failed', icon: <CircleAlert className="size-4 text-bad" /> },
  stopped: { label: 'stopped', icon: <CircleSlash className="size-4 text-muted" /> },
};

function StatusIcon({ status }: { status: CallStatus }) {
  const { label, icon } = STATUS_ICONS[status];
  return (
    <span title={label} className="shrink-0">
      <span aria-hidden>{icon}</span>
      <span className="sr-only">, {label}</span>
    </span>
  );
}
