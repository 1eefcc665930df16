import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { api, dataOf } from '@/api/client';
import type { ExecutionDetails, ExecutionMeta } from '@/protocol';
import { isFinal } from '@/ui/run-status';
import { follow } from './run/follow';
import { NOTHING_YET, type NodeState, RunFold, type RunState } from './run/run-state';

export type ExecutionHandle = {
  /** The newest news of the run. */
  execution: ExecutionMeta | null;
  /** What it gave and what failed, as the server has it: read at the beginning and at the end. */
  details: ExecutionDetails | null;
  /** By node of the graph. Empty for a run that has so many events that they are not read. */
  nodes: ReadonlyMap<string, NodeState>;
  /** The connection was lost and is being made again. */
  reconnecting: boolean;
  error: unknown;
  /** Reads the details again. What was followed so far stays. */
  reread: () => Promise<unknown>;
  /** Begins again from nothing. */
  retry: () => void;
};

/** News are shown together, this often, however fast they come. */
const BATCH_MS = 120;
/** A run that has ended with more events than this is shown without reading them all. */
const MOST_REPLAYED = 30_000;

export const executionKey = (executionId: string) => ['execution', executionId] as const;

/** A run as it happens. */
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
  const [run, setRun] = useState<RunState>(NOTHING_YET);
  const [reconnecting, setReconnecting] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const [attempt, setAttempt] = useState(0);

  const known = details.data;
  const isTooLong = known !== undefined && isFinal(known.status) && known.event_count > MOST_REPLAYED;
  const mayFollow = known !== undefined && !isTooLong;

  // biome-ignore lint/correctness/useExhaustiveDependencies(attempt): another attempt follows anew.
  useEffect(() => {
    if (!mayFollow) return;
    const ending = new AbortController();
    const fold = new RunFold();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let showAt = 0;
    const show = () => {
      timer = undefined;
      showAt = Date.now() + BATCH_MS;
      setRun(fold.state());
    };
    const soon = () => {
      timer ??= setTimeout(show, Math.max(0, showAt - Date.now()));
    };
    setRun(NOTHING_YET);
    setFailure(null);
    follow(
      graphId,
      executionId,
      {
        onNode: (update) => {
          fold.node(update);
          soon();
        },
        onExecution: (execution) => {
          fold.graph(execution);
          soon();
        },
        onConnection: (connected) => setReconnecting(!connected),
      },
      ending.signal,
    )
      .then(async () => {
        if (ending.signal.aborted) return;
        // The details are of the beginning, and lists still say that it runs.
        await queries.invalidateQueries({ queryKey: executionKey(executionId) });
        await queries.invalidateQueries({ queryKey: ['executions'] });
      })
      .catch(setFailure);
    return () => {
      ending.abort();
      clearTimeout(timer);
      setReconnecting(false);
    };
  }, [mayFollow, graphId, executionId, queries, attempt]);

  return {
    execution: newest(run.execution, details.data ?? null),
    details: details.data ?? null,
    nodes: run.nodes,
    reconnecting,
    error: details.error ?? failure,
    reread: () => details.refetch(),
    retry: () => {
      setAttempt((before) => before + 1);
      void details.refetch();
    },
  };
}

/** The stream and the answers overtake each other; neither an end nor the wish to stop is ever taken back. */
function newest(streamed: ExecutionMeta | null, read: ExecutionDetails | null): ExecutionMeta | null {
  if (!streamed || (read && isFinal(read.status))) return read ?? streamed;
  return read?.stop_requested ? { ...streamed, stop_requested: true } : streamed;
}
