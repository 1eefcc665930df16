// Queries and mutations of the library.

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

/** A library entry with its input and output schemas. */
export type Agent = LibraryAgentDetails;

export const SORTS = {
  updatedAt: 'Recently updated',
  lastRunAt: 'Recently run',
  createdAt: 'Recently added',
  name: 'Name',
} as const;
export type Sort = keyof typeof SORTS;

/** Value of the `folder` search parameter for the favorites. Existing links have this spelling. */
export const FAVORITES = 'favourites';

export type AgentFilter = { searchText?: string; folder?: string; sort: Sort };

const PAGE_SIZE = 30;

/** Poll interval while runs are unfinished. */
export const POLL_MS = 4_000;

export const LIBRARY = ['library'] as const;

export function agentsQuery({ searchText, folder, sort }: AgentFilter) {
  const isFavorites = folder === FAVORITES;
  return infiniteQueryOptions({
    queryKey: [...LIBRARY, 'agents', { searchText, folder, sort }],
    queryFn: ({ pageParam }) =>
      dataOf(
        api.GET(isFavorites ? '/api/library/agents/favorites' : '/api/library/agents', {
          params: {
            query: {
              search_term: searchText,
              sort_by: sort,
              page: pageParam,
              page_size: PAGE_SIZE,
              folder_id: isFavorites ? undefined : folder,
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

/** Reads an agent by the id of its library entry or, for links from other pages, by the id of its graph. */
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

/** The latest run of every recently run agent, by graph id. */
export function useLastRuns() {
  const runs = useQuery({
    queryKey: ['executions', 'recent'],
    queryFn: () => dataOf(api.GET('/api/executions', { params: { query: { page_size: 100 } } })),
    staleTime: 5_000,
    refetchInterval: ({ state }) => state.data?.some((run) => !isFinal(run.status)) && POLL_MS,
  });
  return new Map((runs.data ?? []).toReversed().map((run) => [run.graph_id, run]));
}

const NO_CHANGES: ChangeBody = {
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
          body: { ...NO_CHANGES, ...change },
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
  /** Deletes an agent created by the user; removes any other agent from the library. */
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
