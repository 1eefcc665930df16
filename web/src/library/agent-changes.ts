// Changes to an entry of the library.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { LIBRARY } from '@/agents/agent-queries';
import { api, dataOf } from '@/api/client';
import type { ChangeBody, LibraryAgent } from '@/protocol';

const NO_CHANGES: ChangeBody = {
  name: null,
  description: null,
  is_favorite: null,
  is_hidden: null,
  graph_version: null,
  use_graph_is_active_version: null,
  settings: null,
};

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
