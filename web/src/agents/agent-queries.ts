// Queries of agents and their graphs, shared by the library, the marketplace and the graph page.

import { queryOptions } from '@tanstack/react-query';
import { api, dataOf } from '@/api/client';
import { isNotFound } from '@/api/problem';
import type { GraphDetails, LibraryAgentDetails } from '@/protocol';

/** A library entry with its input and output schemas. */
export type Agent = LibraryAgentDetails;

/** The first part of the key of every query about the library. Invalidate it when an entry changes. */
export const LIBRARY = ['library'] as const;

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
    if (!isNotFound(error)) throw error;
    return agentOfGraph(id).catch(() => Promise.reject(error));
  }
}

export function agentOfGraph(graphId: string): Promise<Agent> {
  return dataOf(
    api.GET('/api/library/agents/by-graph/{graph_id}', { params: { path: { graph_id: graphId } } }),
  );
}

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
