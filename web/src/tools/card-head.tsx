import { Check, ChevronRight, CircleAlert, CircleDot, CirclePause, CircleSlash } from 'lucide-react';
import type { ReactNode } from 'react';
import { classes } from '@/ui/classes';
import { Spinner } from '@/ui/spinner';
import { type Call, wordsOfAnswer } from './call';
import { wordsFor } from './tool-words';
import type { Standing } from './types';
import { elapsedWords, useElapsed } from './use-elapsed';

/** A call that takes longer than this says how long it has taken. */
const PATIENCE_MS = 3_000;

type Props = {
  call: Call;
  open: boolean;
  onToggle: () => void;
  bodyId: string;
};

/** The row of a call: what it is, what it does, how it stands. Pressing it shows the rest. */
export function CardHead({ call, open, onToggle, bodyId }: Props) {
  const { label, Icon } = wordsFor(call.tool);
  const note = wordsOfAnswer(call.answer, 'note');
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
        className={classes('size-4 shrink-0', call.standing === 'failed' ? 'text-bad' : 'text-muted')}
      />
      <span className="min-w-0 flex-1 truncate">
        <span className="font-medium">{label}</span>
        <span className="text-muted"> {phraseOf(call)}</span>
      </span>
      {note && <span className="max-w-[45%] shrink-0 truncate text-xs text-muted tabular-nums">{note}</span>}
      <Elapsed standing={call.standing} />
      <Mark standing={call.standing} />
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

/** "Searching for “tides”", then "Searched for “tides”"; for a failure, what went wrong. */
export function phraseOf({ tool, input, standing, failure, answer }: Call): string {
  const { doing, done, object } = wordsFor(tool);
  if (failure) return failure;
  const unfinished = standing === 'preparing' || standing === 'running' || standing === 'stopped';
  const told = standing === 'running' ? null : wordsOfAnswer(answer, 'phrase');
  return told ?? [unfinished ? doing : done, object?.(input)].filter(Boolean).join(' ');
}

function Elapsed({ standing }: { standing: Standing }) {
  const running = standing === 'running' || standing === 'preparing';
  const elapsed = useElapsed(running);
  if (!running || elapsed < PATIENCE_MS) return null;
  return <span className="shrink-0 text-xs text-muted tabular-nums">{elapsedWords(elapsed)}</span>;
}

const MARKS: Record<Standing, { words: string; mark: ReactNode }> = {
  preparing: { words: 'being prepared', mark: <Spinner className="text-accent" /> },
  running: { words: 'at work', mark: <Spinner className="text-accent" /> },
  background: {
    words: 'in the background',
    mark: <CircleDot className="size-4 animate-pulse text-accent" />,
  },
  waiting: { words: 'waits for you', mark: <CirclePause className="size-4 text-warn" /> },
  done: { words: 'done', mark: <Check className="size-4 text-good" /> },
  failed: { words: 'failed', mark: <CircleAlert className="size-4 text-bad" /> },
  stopped: { words: 'stopped', mark: <CircleSlash className="size-4 text-muted" /> },
};

function Mark({ standing }: { standing: Standing }) {
  const { words, mark } = MARKS[standing];
  return (
    <span title={words} className="shrink-0">
      <span aria-hidden>{mark}</span>
      <span className="sr-only">, {words}</span>
    </span>
  );
}
