import { useQuery } from '@tanstack/react-query';
import { api, dataOf } from '@/api/client';
import { isNotFound } from '@/api/problem';
import type { ExecutionStatus } from '@/protocol';
import { isFinal } from '@/ui/feedback/run-status';

const POLL_MS = 2_000;

/** Polls a run until it ends. A run that is known to have ended is not requested. */
export function useRun(executionId: string, known: ExecutionStatus) {
  const { data, error, isError, refetch } = useQuery({
    queryKey: ['run', executionId],
    queryFn: () =>
      dataOf(api.GET('/api/executions/{execution_id}', { params: { path: { execution_id: executionId } } })),
    refetchInterval: ({ state }) =>
      (state.data && isFinal(state.data.status)) || isNotFound(state.error) ? false : POLL_MS,
    // `enabled` is left unset otherwise, so that the style guide can disable all queries by default.
    ...(isFinal(known) ? { enabled: false } : {}),
  });
  // Another card may have cached the run before it ended; the known status is newer.
  const isStale = data && isFinal(known) && !isFinal(data.status);
  return { data: isStale ? undefined : data, error, isError, refetch };
}
