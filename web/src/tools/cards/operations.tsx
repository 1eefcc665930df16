// Cards of operations: long-running calls that outlive their turn and whose result is added to the history.

import { useQuery } from '@tanstack/react-query';
import { api, dataOf } from '@/api/client';
import { isNotFound } from '@/api/problem';
import type { OperationStatus, TaskView } from '@/protocol';
import { Badge, type Tone } from '@/ui/feedback/badge';
import { humanName } from '@/ui/text/names';
import type { CallStatus, CardKinds, CardProps } from '../types';
import { hasStages } from '../waiting/building-stages';
import { StageList } from '../waiting/stage-list';
import { useBuildingProgress } from '../waiting/use-building-progress';
import { Waiting } from '../waiting/waiting';

const POLL_MS = 1_500;

type StartedProps = CardProps<'operation_started'> | CardProps<'operation_pending'>;

/** Shown until the history has the result in place of this response. */
function RunningOperationCard({ response: { tool_name, task_id } }: StartedProps) {
  const task = useTask(task_id ?? null);
  if (task.isMissing) return <p className="text-muted">This task is no longer available.</p>;
  const name = humanName(tool_name);
  if (task.data && hasEnded(task.data)) return <p role="status">{ending(name, task.data)}</p>;
  return <RunningTask tool={tool_name} taskId={task_id ?? null} task={task} />;
}

type RunningTaskProps = { tool: string; taskId: string | null; task: ReturnType<typeof useTask> };

function RunningTask({ tool, taskId, task }: RunningTaskProps) {
  const isBuilding = hasStages(tool);
  const progress = useBuildingProgress(isBuilding ? taskId : null);
  return (
    <Waiting
      label={humanName(tool)}
      since={task.data ? Date.parse(task.data.created_at) : undefined}
      unreachable={task.isUnreachable}
      stages={isBuilding && <StageList progress={progress} />}
    />
  );
}

function ending(name: string, { status }: TaskView): string {
  if (status === 'completed') return `${name} is done. Loading its result…`;
  return status === 'cancelled' ? `${name} was stopped.` : `${name} failed. Loading its error…`;
}

function DuplicateCallCard(_: CardProps<'operation_in_progress'>) {
  return <p>This call is already running; it will share that result.</p>;
}

const STATES: Record<OperationStatus | 'cancelled', { label: string; tone: Tone; callStatus: CallStatus }> = {
  running: { label: 'Running', tone: 'accent', callStatus: 'background' },
  completed: { label: 'Done', tone: 'good', callStatus: 'done' },
  failed: { label: 'Failed', tone: 'bad', callStatus: 'failed' },
  cancelled: { label: 'Stopped', tone: 'neutral', callStatus: 'stopped' },
  not_found: { label: 'Not found', tone: 'neutral', callStatus: 'done' },
};

function OperationStatusCard({ response, show }: CardProps<'operation_status'>) {
  const { status, task_id, tool_name, output } = response;
  // An operation that was running when the copilot checked may have ended since.
  const task = useTask(status === 'running' ? (task_id ?? null) : null);
  const now = task.data && hasEnded(task.data) ? endOf(task.data) : status;
  const { label, tone } = STATES[now] ?? STATES.not_found;
  if (now === 'running') {
    // The current status cannot be polled, so no progress is shown.
    if (!task_id || task.isMissing)
      return <p className="text-muted">It was running when the copilot checked.</p>;
    return <RunningTask tool={tool_name ?? 'operation'} taskId={task_id} task={task} />;
  }
  return (
    <>
      <p className="flex flex-wrap items-center gap-2">
        {tool_name && <span className="font-medium break-words">{humanName(tool_name)}</span>}
        <Badge tone={tone}>{label}</Badge>
      </p>
      {output !== undefined && output !== null && show(output)}
    </>
  );
}

function endOf({ status }: TaskView): keyof typeof STATES {
  return status === 'completed' || status === 'cancelled' ? status : 'failed';
}

function hasEnded({ status }: TaskView): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

/** Polls the task of an operation; does nothing without an id. */
function useTask(id: string | null) {
  const { data, error } = useQuery({
    queryKey: ['task', id],
    queryFn: () => dataOf(api.GET('/api/chat/tasks/{task_id}', { params: { path: { task_id: id ?? '' } } })),
    refetchInterval: ({ state }) =>
      (state.data && hasEnded(state.data)) || isNotFound(state.error) ? false : POLL_MS,
    // `enabled` is left unset otherwise, so that the style guide can disable all queries by default.
    ...(id ? {} : { enabled: false }),
  });
  return { data, isMissing: isNotFound(error), isUnreachable: error !== null && !isNotFound(error) };
}

const running = { Card: RunningOperationCard, opens: true, status: (): CallStatus => 'background' };

export const operations: CardKinds<
  'operation_started' | 'operation_pending' | 'operation_in_progress' | 'operation_status'
> = {
  operation_started: running,
  operation_pending: running,
  operation_in_progress: { Card: DuplicateCallCard, note: () => 'Already running' },
  operation_status: {
    Card: OperationStatusCard,
    opens: true,
    status: ({ status }, { live }) => {
      const { callStatus } = STATES[status];
      return callStatus === 'background' && !live ? 'done' : callStatus;
    },
  },
};
