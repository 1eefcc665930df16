import { ApiError } from '@/api/problem';
import { asRecord } from '@/lib/json';
import type { AgentDiff } from '@/protocol';

/** A change that was refused because somebody else has saved a version. */
export type StaleVersion = {
  newest: number | null;
  /** What changed since the version that was edited; null if the server does not say. */
  diff: AgentDiff | null;
};

/** What the server says about a newer version; null for other errors. */
export function staleVersionOf(error: unknown): StaleVersion | null {
  if (!(error instanceof ApiError) || error.code !== 'STALE_VERSION') return null;
  const { newest_version, diff } = asRecord(error.body);
  return {
    newest: typeof newest_version === 'number' ? newest_version : null,
    diff: isDiff(diff) ? diff : null,
  };
}

function isDiff(value: unknown): value is AgentDiff {
  const { steps, links, about } = asRecord(value);
  return Array.isArray(about) && typeof steps === 'object' && typeof links === 'object';
}
