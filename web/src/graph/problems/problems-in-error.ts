import { ApiError } from '@/api/problem';
import { asRecord } from '@/lib/json';
import type { GraphProblem } from '@/protocol';

/** The problems in the response of a request that was refused because the agent has errors; null for other errors. */
export function problemsInError(error: unknown): GraphProblem[] | null {
  if (!(error instanceof ApiError) || error.code !== 'INVALID_GRAPH') return null;
  const { errors } = asRecord(error.body);
  return Array.isArray(errors) ? errors : null;
}
