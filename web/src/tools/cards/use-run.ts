import { useQuery } from '@tanstack/react-query';
import { api, dataOf } from '@/api/client';
import type { ExecutionStatus } from '@/protocol';
import { isFinal } from '@/ui/run-status';
import { isGone } from './gone';

const POLL_MS = 2_000;

/** A run as it is now, asked for until it has come to an end. One that had ended before is not asked for at all. */
export function useRun(executionId: string, known: ExecutionStatus) {
  const { data, error, isError, refetch } = useQuery({
    queryKey: ['run', executionId],
    queryFn: () =>
      dataOf(api.GET('/api/executions/{execution_id}', { params: { path: { execution_id: executionId } } })),
    refetchInterval: ({ state }) =>
      (state.data && isFinal(state.data.status)) || isGone(state.error) ? false : POLL_MS,
    // Left open where it is wanted, so that a page without a server can close it for all.
    ...(isFinal(known) ? { enabled: false } : {}),
  });
  // Another card may have read it before it had ended; what is known is newer.
  const isOld = data && isFinal(known) && !isFinal(data.status);
  return { data: isOld ? undefined : data, error, isError, refetch };
}
