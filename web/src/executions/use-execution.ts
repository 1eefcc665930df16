import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { api, dataOf } from '@/api/client';
import type { ExecutionDetails, ExecutionMeta } from '@/protocol';
import { isFinal } from '@/ui/feedback/run-status';
import {
  EMPTY_EXECUTION,
  type ExecutionState,
  ExecutionStateBuilder,
  type NodeState,
} from './execution-state';
import { followExecution } from './follow-execution';

export type ExecutionHandle = {
  /** The latest known state of the run. */
  execution: ExecutionMeta | null;
  /** Outputs and failures from the server, fetched at the start and at the end. */
  details: ExecutionDetails | null;
  /** State by node id. Empty for a run with too many events to replay. */
  nodes: ReadonlyMap<string, NodeState>;
  /** The connection was lost and is being reestablished. */
  reconnecting: boolean;
  error: unknown;
  /** Fetches the details again and keeps the state from events. */
  refetchDetails: () => Promise<unknown>;
  /** Starts over from an empty state. */
  retry: () => void;
};

/** State updates are batched to one per this interval. */
const BATCH_MS = 120;
/** The events of a finished run are not replayed if there are more than this. */
const MAX_REPLAYED_EVENTS = 30_000;

export const executionKey = (executionId: string) => ['execution', executionId] as const;

/** Follows a run live. */
export function useExecution(graphId: string, executionId: string): ExecutionHandle {
  const queries = useQueryClient();
  const key = executionKey(executionId);
  const details = useQuery({
    queryKey: key,
    queryFn: () =>
      dataOf(
        api.GET('/api/graphs/{graph_id}/executions/{execution_id}', {
          params: { path: { graph_id: graphId, execution_id: executionId }, query: { node_limit: 0 } },
        }),
      ),
  });
  const [run, setRun] = useState<ExecutionState>(EMPTY_EXECUTION);
  const [reconnecting, setReconnecting] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const [attempt, setAttempt] = useState(0);

  const known = details.data;
  const isTooLong = known !== undefined && isFinal(known.status) && known.event_count > MAX_REPLAYED_EVENTS;
  const canFollow = known !== undefined && !isTooLong;

  // biome-ignore lint/correctness/useExhaustiveDependencies(attempt): a new attempt reconnects.
  useEffect(() => {
    if (!canFollow) return;
    const abort = new AbortController();
    const builder = new ExecutionStateBuilder();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let nextUpdateAt = 0;
    const update = () => {
      timer = undefined;
      nextUpdateAt = Date.now() + BATCH_MS;
      setRun(builder.state());
    };
    const scheduleUpdate = () => {
      timer ??= setTimeout(update, Math.max(0, nextUpdateAt - Date.now()));
    };
    setRun(EMPTY_EXECUTION);
    setFailure(null);
    followExecution(
      graphId,
      executionId,
      {
        onNode: (nodeUpdate) => {
          builder.addNodeUpdate(nodeUpdate);
          scheduleUpdate();
        },
        onExecution: (execution) => {
          builder.setExecution(execution);
          scheduleUpdate();
        },
        onConnection: (connected) => setReconnecting(!connected),
      },
      abort.signal,
    )
      .then(async () => {
        if (abort.signal.aborted) return;
        // The cached details are from the start, and lists still show the run as running.
        await queries.invalidateQueries({ queryKey: executionKey(executionId) });
        await queries.invalidateQueries({ queryKey: ['executions'] });
      })
      .catch(setFailure);
    return () => {
      abort.abort();
      clearTimeout(timer);
      setReconnecting(false);
    };
  }, [canFollow, graphId, executionId, queries, attempt]);

  return {
    execution: newest(run.execution, details.data ?? null),
    details: details.data ?? null,
    nodes: run.nodes,
    reconnecting,
    error: details.error ?? failure,
    refetchDetails: () => details.refetch(),
    retry: () => {
      setAttempt((before) => before + 1);
      void details.refetch();
    },
  };
}

/** Streamed and fetched states arrive in any order; an end and a stop request are final. */
function newest(streamed: ExecutionMeta | null, read: ExecutionDetails | null): ExecutionMeta | null {
  if (!streamed || (read && isFinal(read.status))) return read ?? streamed;
  return read?.stop_requested ? { ...streamed, stop_requested: true } : streamed;
}
