// The versions of an agent.

import { queryOptions } from '@tanstack/react-query';
import { api, dataOf } from '@/api/client';
import { isNotFound } from '@/api/problem';
import type { GraphDetails, GraphMeta } from '@/protocol';

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

/** Saves an earlier version again, as a new one. */
export function restoreVersion(graphId: string, version: number): Promise<GraphDetails> {
  return dataOf(
    api.POST('/api/graphs/{graph_id}/versions/{version}/restore', {
      params: { path: { graph_id: graphId, version } },
    }),
  );
}

/** What changed from one stored version to another. */
export function diffQuery(graphId: string, from: number, to: number) {
  return queryOptions({
    queryKey: ['graph', graphId, 'diff', from, to] as const,
    queryFn: () =>
      dataOf(
        api.POST('/api/agents/diff', {
          body: {
            from: { graph_id: graphId, graph_version: from },
            to: { graph_id: graphId, graph_version: to },
          },
        }),
      ),
  });
}

export function nullIfMissing(error: unknown): null {
  if (isNotFound(error)) return null;
  throw error;
}
