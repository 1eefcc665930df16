// Starts a run of an agent and reads the errors of a failed start.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { LIBRARY } from '@/agents/agent-queries';
import { api, dataOf } from '@/api/client';
import { ApiError } from '@/api/problem';
import type { LibraryAgent } from '@/protocol';
import type { Values } from '@/ui/schema-form/schema-form';

type StartOptions = { inputs: Values; dryRun?: boolean; version?: number };

/** Starts a run and navigates to it. */
export function useStartRun(agent: LibraryAgent) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: ({ inputs, dryRun = false, version = agent.graph_version }: StartOptions) =>
      dataOf(
        api.POST('/api/graphs/{graph_id}/execute/{version}', {
          params: { path: { graph_id: agent.graph_id, version } },
          body: { inputs, dry_run: dryRun },
        }),
      ),
    onSuccess: async (execution) => {
      void queries.invalidateQueries({ queryKey: ['executions'] });
      void queries.invalidateQueries({ queryKey: LIBRARY });
      await navigate({
        to: '/library/agents/$id',
        params: { id: agent.id },
        search: { activeTab: 'runs', activeItem: execution.id },
      });
    },
  });
}

/** The distinct validation errors of the graph. */
export function graphErrors(error: unknown): string[] {
  const body = error instanceof ApiError ? (error.body as { errors?: unknown } | undefined) : undefined;
  if (!Array.isArray(body?.errors)) return [];
  const messages = body.errors.map((one: { message?: unknown }) => String(one?.message ?? ''));
  return [...new Set(messages.filter(Boolean))];
}
