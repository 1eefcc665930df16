import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { graphQuery, LIBRARY } from '@/agents/agent-queries';
import type { GraphDetails } from '@/protocol';
import { type BuildTab, linkToTab } from '../build-tabs';
import { versionsQuery } from './version-requests';

/** Shows a version that was just saved, and refreshes what depends on it. */
export function useShowSaved() {
  const client = useQueryClient();
  const navigate = useNavigate();
  return (graph: GraphDetails, tab: BuildTab) => {
    const { id = '', version = 1, is_active } = graph;
    client.setQueryData(graphQuery(id, version).queryKey, graph);
    if (is_active) client.setQueryData(graphQuery(id).queryKey, graph);
    void client.invalidateQueries({ queryKey: versionsQuery(id).queryKey });
    void client.invalidateQueries({ queryKey: LIBRARY });
    // A draft is not the active version, so its URL has to name it.
    void navigate(linkToTab(id, is_active ? undefined : version, tab));
  };
}
