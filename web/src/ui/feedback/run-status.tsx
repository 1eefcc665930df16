// The labels and colors of run statuses.

import type { ExecutionStatus } from '@/protocol';
import { Badge, type Tone } from './badge';
import { Spinner } from './spinner';

const STATES: Record<ExecutionStatus, { label: string; tone: Tone; busy?: boolean }> = {
  INCOMPLETE: { label: 'Not started', tone: 'neutral' },
  QUEUED: { label: 'Queued', tone: 'neutral', busy: true },
  RUNNING: { label: 'Running', tone: 'accent', busy: true },
  REVIEW: { label: 'Needs your approval', tone: 'warn' },
  COMPLETED: { label: 'Completed', tone: 'good' },
  FAILED: { label: 'Failed', tone: 'bad' },
  TERMINATED: { label: 'Stopped', tone: 'neutral' },
};

const FINAL: ReadonlySet<ExecutionStatus> = new Set(['COMPLETED', 'FAILED', 'TERMINATED']);

/** Whether the run has ended. */
export function isFinal(status: ExecutionStatus): boolean {
  return FINAL.has(status);
}

export function RunStatus({ status }: { status: ExecutionStatus }) {
  const { label, tone, busy } = STATES[status] ?? { label: String(status), tone: 'neutral' };
  return (
    <Badge tone={tone}>
      {busy && <Spinner className="size-3" />}
      {label}
    </Badge>
  );
}
