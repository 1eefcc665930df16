import { useQuery } from '@tanstack/react-query';
import { api, dataOf } from '@/api/client';
import { isFinal } from '@/ui/feedback/run-status';

/** Poll interval while runs are unfinished. */
export const POLL_MS = 4_000;

/** The latest run of every recently run agent, by graph id. */
export function useLastExecutions() {
  const runs = useQuery({
    queryKey: ['executions', 'recent'],
    queryFn: () => dataOf(api.GET('/api/executions', { params: { query: { page_size: 100 } } })),
    staleTime: 5_000,
    refetchInterval: ({ state }) => state.data?.some((run) => !isFinal(run.status)) && POLL_MS,
  });
  return new Map((runs.data ?? []).toReversed().map((run) => [run.graph_id, run]));
}
