// What the library asks the server for, and what it tells it.

import {
  infiniteQueryOptions,
  queryOptions,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { api, dataOf } from '@/api/client';
import { ApiError } from '@/api/problem';
import type { ChangeBody, GraphDetails, LibraryAgent, LibraryAgentDetails } from '@/protocol';
import { isFinal } from '@/ui/run-status';

/** An entry of the library, with what is needed to run it. */
export type Agent = LibraryAgentDetails;

export const SORTS = {
  updatedAt: 'Changed last',
  lastRunAt: 'Run last',
  createdAt: 'Added last',
  name: 'Name',
} as const;
export type Sort = keyof typeof SORTS;

/** A place of the library that is no folder. */
export const FAVOURITES = 'favourites';

export type Wanted = { words?: string; folder?: string; sort: Sort };

const PAGE_SIZE = 30;

/** How often runs that go on are asked for again. */
export const POLL_MS = 4_000;

export const LIBRARY = ['library'] as const;

export function agentsQuery({ words, folder, sort }: Wanted) {
  const isFavourites = folder === FAVOURITES;
  return infiniteQueryOptions({
    queryKey: [...LIBRARY, 'agents', { words, folder, sort }],
    queryFn: ({ pageParam }) =>
      dataOf(
        api.GET(isFavourites ? '/api/library/agents/favorites' : '/api/library/agents', {
          params: {
            query: {
              search_term: words,
              sort_by: sort,
              page: pageParam,
              page_size: PAGE_SIZE,
              folder_id: isFavourites ? undefined : folder,
            },
          },
        }),
      ),
    initialPageParam: 1,
    getNextPageParam: ({ pagination }) =>
      pagination.current_page < pagination.total_pages ? pagination.current_page + 1 : undefined,
  });
}

export function agentQuery(id: string) {
  return queryOptions({ queryKey: [...LIBRARY, 'agent', id], queryFn: () => readAgent(id) });
}

/** Links from elsewhere know the graph, not the entry; both lead here. */
async function readAgent(id: string): Promise<Agent> {
  try {
    return await dataOf(
      api.GET('/api/library/agents/{library_agent_id}', { params: { path: { library_agent_id: id } } }),
    );
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
    return agentOfGraph(id).catch(() => Promise.reject(error));
  }
}

export function agentOfGraph(graphId: string): Promise<Agent> {
  return dataOf(
    api.GET('/api/library/agents/by-graph/{graph_id}', { params: { path: { graph_id: graphId } } }),
  );
}

export const foldersQuery = queryOptions({
  queryKey: [...LIBRARY, 'folders'],
  queryFn: () => dataOf(api.GET('/api/library/folders/tree')),
});

export function graphQuery(graphId: string, version?: number) {
  return queryOptions({
    queryKey: ['graph', graphId, version ?? 'active'],
    queryFn: async () =>
      (await dataOf(
        api.GET('/api/graphs/{graph_id}', { params: { path: { graph_id: graphId }, query: { version } } }),
      )) as GraphDetails,
    // A version never changes.
    staleTime: version ? Number.POSITIVE_INFINITY : 10_000,
  });
}

/** The status of the last run of every agent that ran lately, by graph. */
export function useLastRuns() {
  const runs = useQuery({
    queryKey: ['executions', 'lately'],
    queryFn: () => dataOf(api.GET('/api/executions', { params: { query: { page_size: 100 } } })),
    staleTime: 5_000,
    refetchInterval: ({ state }) => state.data?.some((run) => !isFinal(run.status)) && POLL_MS,
  });
  return new Map((runs.data ?? []).toReversed().map((run) => [run.graph_id, run]));
}

const AS_IT_IS: ChangeBody = {
  name: null,
  description: null,
  is_favorite: null,
  is_hidden: null,
  graph_version: null,
  use_graph_is_active_version: null,
  settings: null,
};

/** Changes to an entry of the library. */
export function useAgentChanges() {
  const queries = useQueryClient();
  const refresh = () => queries.invalidateQueries({ queryKey: LIBRARY });
  const byId = (id: string) => ({ params: { path: { library_agent_id: id } } });

  const change = useMutation({
    mutationFn: ({ id, ...change }: { id: string } & Partial<ChangeBody>) =>
      dataOf(
        api.PATCH('/api/library/agents/{library_agent_id}', {
          ...byId(id),
          body: { ...AS_IT_IS, ...change },
        }),
      ),
    onSettled: refresh,
  });
  const move = useMutation({
    mutationFn: ({ id, folder }: { id: string; folder: string | null }) =>
      dataOf(
        api.POST('/api/library/folders/agents/bulk-move', { body: { agent_ids: [id], folder_id: folder } }),
      ),
    onSettled: refresh,
  });
  const fork = useMutation({
    mutationFn: (id: string) => dataOf(api.POST('/api/library/agents/{library_agent_id}/fork', byId(id))),
    onSettled: refresh,
  });
  /** One's own goes for good; one of somebody else only leaves the library. */
  const remove = useMutation({
    mutationFn: async (agent: LibraryAgent) => {
      if (!agent.is_created_by_user) {
        await dataOf(api.DELETE('/api/library/agents/{library_agent_id}', byId(agent.id)));
        return;
      }
      await dataOf(api.DELETE('/api/graphs/{graph_id}', { params: { path: { graph_id: agent.graph_id } } }));
    },
    onSettled: refresh,
  });
  return { change, move, fork, remove };
}
