// Requests that check a stored version of an agent and fix it.

import { queryOptions } from '@tanstack/react-query';
import { api, dataOf } from '@/api/client';
import type { EditedBody, GraphEdit } from '@/protocol';

export function checkQuery(graphId: string, version: number) {
  return queryOptions({
    queryKey: ['graph', graphId, 'check', version] as const,
    queryFn: () =>
      dataOf(api.POST('/api/agents/validate', { body: { graph_id: graphId, graph_version: version } })),
  });
}

type EditOptions = { graphId: string; base: number; edit: GraphEdit; draft: boolean };

/** Saves a version with one edit. `draft` also allows one that still has errors. */
export function applyEdit({ graphId, base, edit, draft }: EditOptions): Promise<EditedBody> {
  return dataOf(
    api.POST('/api/graphs/{graph_id}/edits', {
      params: { path: { graph_id: graphId } },
      body: { base_version: base, edits: [edit], draft },
    }),
  );
}
