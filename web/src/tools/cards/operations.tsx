// Work that goes on without its turn, and whose result comes by itself.

import { useQuery } from '@tanstack/react-query';
import { api, dataOf } from '@/api/client';
import type { OperationStatus, Task } from '@/protocol';
import { Badge, type Tone } from '@/ui/badge';
import { humanName } from '@/ui/names';
import type { CardKinds, CardProps, Standing } from '../types';
import { Waiting } from '../waiting/waiting';
import { isGone } from './gone';

const POLL_MS = 1_500;

type StartedProps = CardProps<'operation_started'> | CardProps<'operation_pending'>;

/** It stands here until the history has the result in its place. */
function OpenOperationCard({ response: { tool_name, task_id } }: StartedProps) {
  const task = useTask(task_id ?? null);
  if (task.isGone) return <p className="text-muted">The server knows nothing of this work any more.</p>;
  const name = humanName(tool_name);
  if (task.data && hasEnded(task.data)) return <p role="status">{ending(name, task.data)}</p>;
  return (
    <Waiting
      label={name}
      since={task.data ? Date.parse(task.data.created_at) : undefined}
      unreachable={task.isUnreachable}
    />
  );
}

function ending(name: string, { status }: Task): string {
  if (status === 'completed') return `${name} is done. Its result is on the way.`;
  return status === 'cancelled' ? `${name} was stopped.` : `${name} has failed. What it says is on the way.`;
}

function AlreadyAtWorkCard(_: CardProps<'operation_in_progress'>) {
  return <p>The same call is at work already. Its result comes with the first one.</p>;
}

const STATES: Record<OperationStatus | 'cancelled', { words: string; tone: Tone; standing: Standing }> = {
  running: { words: 'At work', tone: 'accent', standing: 'background' },
  completed: { words: 'Done', tone: 'good', standing: 'done' },
  failed: { words: 'Failed', tone: 'bad', standing: 'failed' },
  cancelled: { words: 'Stopped', tone: 'neutral', standing: 'stopped' },
  not_found: { words: 'Not known', tone: 'neutral', standing: 'done' },
};

function OperationStatusCard({ response, show }: CardProps<'operation_status'>) {
  const { status, task_id, tool_name, output } = response;
  // What was at work when the copilot asked may have ended since.
  const task = useTask(status === 'running' ? (task_id ?? null) : null);
  const now = task.data && hasEnded(task.data) ? endOf(task.data) : status;
  const { words, tone } = STATES[now] ?? STATES.not_found;
  if (now === 'running') {
    // Nobody can be asked how it stands, so nothing here may look as if it were known.
    if (!task_id || task.isGone) return <p className="text-muted">It was at work when the copilot asked.</p>;
    return (
      <Waiting
        label={humanName(tool_name ?? 'operation')}
        since={task.data ? Date.parse(task.data.created_at) : undefined}
        unreachable={task.isUnreachable}
      />
    );
  }
  return (
    <>
      <p className="flex flex-wrap items-center gap-2">
        {tool_name && <span className="font-medium break-words">{humanName(tool_name)}</span>}
        <Badge tone={tone}>{words}</Badge>
      </p>
      {output !== undefined && output !== null && show(output)}
    </>
  );
}

function endOf({ status }: Task): keyof typeof STATES {
  return status === 'completed' || status === 'cancelled' ? status : 'failed';
}

function hasEnded({ status }: Task): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

/** How the work stands now; not asked when there is no name to ask for. */
function useTask(id: string | null) {
  const { data, error } = useQuery({
    queryKey: ['task', id],
    queryFn: () => dataOf(api.GET('/api/chat/tasks/{task_id}', { params: { path: { task_id: id ?? '' } } })),
    refetchInterval: ({ state }) =>
      (state.data && hasEnded(state.data)) || isGone(state.error) ? false : POLL_MS,
    // Left open where it is wanted, so that a page without a server can close it for all.
    ...(id ? {} : { enabled: false }),
  });
  return { data, isGone: isGone(error), isUnreachable: error !== null && !isGone(error) };
}

const open = { Card: OpenOperationCard, opens: true, standing: (): Standing => 'background' };

export const operations: CardKinds<
  'operation_started' | 'operation_pending' | 'operation_in_progress' | 'operation_status'
> = {
  operation_started: open,
  operation_pending: open,
  operation_in_progress: { Card: AlreadyAtWorkCard, note: () => 'Already at work' },
  operation_status: {
    Card: OperationStatusCard,
    opens: true,
    standing: ({ status }, { live }) => {
      const { standing } = STATES[status];
      return standing === 'background' && !live ? 'done' : standing;
    },
  },
};
