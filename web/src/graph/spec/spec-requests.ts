// Requests of the spec tab.

import { queryOptions } from '@tanstack/react-query';
import { api, dataOf } from '@/api/client';
import type { AgentDiff, FixBody, GraphDetails, ValidationBody } from '@/protocol';
import { readVersions } from '../versions/version-requests';

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
    queryFn: () => loadSpec(graphId, version),
  });
}

export async function loadSpec(graphId: string, version: number): Promise<SpecDocument> {
  // Read before the spec: a version that is saved in between is then noticed when this one is saved.
  const versions = await readVersions(graphId);
  const { spec } = await dataOf(
    api.POST('/api/agents/decompile', { body: { graph_id: graphId, graph_version: version } }),
  );
  return { spec, version, base: versions && (versions[0]?.version ?? version) };
}

export function checkSpec(spec: string): Promise<ValidationBody> {
  return dataOf(api.POST('/api/agents/validate', { body: { spec } }));
}

/** Repairs what has only one repair. */
export function fixSpec(spec: string): Promise<FixBody> {
  return dataOf(api.POST('/api/agents/fix', { body: { spec } }));
}

/** What the text changes in a stored version. */
export function compareSpec(graphId: string, version: number, spec: string): Promise<AgentDiff> {
  return dataOf(
    api.POST('/api/agents/diff', {
      body: { from: { graph_id: graphId, graph_version: version }, to: { spec } },
    }),
  );
}

/** `draft` also saves an agent that can't run yet. */
export type SaveOptions = { draft: boolean };

/** Saves a new version of an agent. */
export function saveSpec(
  graphId: string,
  spec: string,
  base: number,
  { draft }: SaveOptions,
): Promise<GraphDetails> {
  return dataOf(
    api.PUT('/api/graphs/{graph_id}', {
      params: { path: { graph_id: graphId }, query: { base_version: base, draft } },
      body: { spec },
    }),
  );
}

/** Saves a new agent. */
export function createFromSpec(spec: string, { draft }: SaveOptions): Promise<GraphDetails> {
  return dataOf(api.POST('/api/graphs', { params: { query: { draft } }, body: { spec } }));
}
