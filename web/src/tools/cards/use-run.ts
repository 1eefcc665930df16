import { useQuery } from '@tanstack/react-query';
import { api, dataOf } from '@/api/client';
import type { ExecutionStatus } from '@/protocol';
import { isFinal } from '@/ui/run-status';
import { isGone } from './gone';

const POLL_MS = 2_000;

/** A run as it is now, asked for until it has come to an end. One that had ended before is not asked for at all. */
export function useRun(executionId: string, known: ExecutionStatus) {
  return useQuery({
    queryKey: ['run', executionId],
    queryFn: () =>
      dataOf(api.GET('/api/executions/{execution_id}', { params: { path: { execution_id: executionId } } })),
    refetchInterval: ({ state }) =>
      (state.data && isFinal(state.data.status)) || isGone(state.error) ? false : POLL_MS,
    // Left open where it is wanted, so that a page without a server can close it for all.
    ...(isFinal(known) ? { enabled: false } : {}),
  });
}
