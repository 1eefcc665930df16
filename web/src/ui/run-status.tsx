// The states of a run in words and colours, the same wherever one is shown.

import type { ExecutionStatus } from '@/protocol';
import { Badge, type Tone } from './badge';
import { Spinner } from './spinner';

const STATES: Record<ExecutionStatus, { words: string; tone: Tone; busy?: boolean }> = {
  INCOMPLETE: { words: 'Not started', tone: 'neutral' },
  QUEUED: { words: 'Queued', tone: 'neutral', busy: true },
  RUNNING: { words: 'Running', tone: 'accent', busy: true },
  REVIEW: { words: 'Waits for you', tone: 'warn' },
  COMPLETED: { words: 'Completed', tone: 'good' },
  FAILED: { words: 'Failed', tone: 'bad' },
  TERMINATED: { words: 'Stopped', tone: 'neutral' },
};

const FINAL: ReadonlySet<ExecutionStatus> = new Set(['COMPLETED', 'FAILED', 'TERMINATED']);

/** Nothing more will happen. */
export function isFinal(status: ExecutionStatus): boolean {
  return FINAL.has(status);
}

export function RunStatus({ status }: { status: ExecutionStatus }) {
  const { words, tone, busy } = STATES[status] ?? { words: String(status), tone: 'neutral' };
  return (
    <Badge tone={tone}>
      {busy && <Spinner className="size-3" />}
      {words}
    </Badge>
  );
}
