// Requests of the spec tab.

import { queryOptions } from '@tanstack/react-query';
import { api, dataOf } from '@/api/client';
import { ApiError } from '@/api/problem';
import { asRecord } from '@/lib/json';
import type { GraphDetails, GraphProblem, RehearsalReport, ValidationBody } from '@/protocol';
import { readVersions } from '../versions';

export type SpecDocument = {
  spec: string;
  version: number;
  /** The newest version when the spec was loaded, which a save builds on. Null if the user may not save. */
  base: number | null;
};

export function specKey(graphId: string, version: number) {
  return ['graph', graphId, 'spec', version] as const;
}

export function specQuery(graphId: string, version: number) {
  return queryOptions({
    queryKey: specKey(graphId, version),
    queryFn: async (): Promise<SpecDocument> => {
      // Read before the spec: a version that is saved in between is then noticed when this one is saved.
      const versions = await readVersions(graphId);
      const { spec } = await dataOf(
        api.POST('/api/agents/decompile', { body: { graph_id: graphId, graph_version: version } }),
      );
      return { spec, version, base: versions && (versions[0]?.version ?? version) };
    },
  });
}

export function checkSpec(spec: string): Promise<ValidationBody> {
  return dataOf(api.POST('/api/agents/validate', { body: { spec } }));
}

export function rehearseSpec(spec: string): Promise<RehearsalReport> {
  return dataOf(api.POST('/api/agents/rehearse', { body: { spec } }));
}

export function saveSpec(graphId: string, spec: string, base: number): Promise<GraphDetails> {
  return dataOf(
    api.PUT('/api/graphs/{graph_id}', {
      params: { path: { graph_id: graphId }, query: { base_version: base } },
      body: { spec },
    }),
  );
}

/** The problems in the response of a request that was refused because the agent has errors; null for other errors. */
export function problemsOf(error: unknown): GraphProblem[] | null {
  if (!(error instanceof ApiError) || error.code !== 'INVALID_GRAPH') return null;
  const { errors } = asRecord(error.body);
  return Array.isArray(errors) ? errors : null;
}

/** The newest version, if a save was refused because there is a newer one than its base; null for other errors. */
export function newerVersionOf(error: unknown): { newest: number | null } | null {
  if (!(error instanceof ApiError) || error.code !== 'STALE_VERSION') return null;
  const { newest_version } = asRecord(error.body);
  return { newest: typeof newest_version === 'number' ? newest_version : null };
}
