// The versions of an agent.

import { queryOptions } from '@tanstack/react-query';
import { api, dataOf } from '@/api/client';
import { isNotFound } from '@/api/problem';
import type { GraphMeta } from '@/protocol';

/** All versions, newest first. Null for agents of other users: only the owner sees them and may save new ones. */
export function versionsQuery(graphId: string) {
  return queryOptions({
    queryKey: ['graph', graphId, 'versions'],
    queryFn: () => readVersions(graphId),
  });
}

export function readVersions(graphId: string): Promise<GraphMeta[] | null> {
  return dataOf(
    api.GET('/api/graphs/{graph_id}/versions', { params: { path: { graph_id: graphId } } }),
  ).catch(nullIfMissing);
}

export function activateVersion(graphId: string, version: number): Promise<unknown> {
  return dataOf(
    api.PUT('/api/graphs/{graph_id}/versions/active', {
      params: { path: { graph_id: graphId } },
      body: { active_graph_version: version },
    }),
  );
}

export function nullIfMissing(error: unknown): null {
  if (isNotFound(error)) return null;
  throw error;
}
