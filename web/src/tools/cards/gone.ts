import { ApiError } from '@/api/problem';

/** Whoever is not there will not come; anything else may pass, and is asked for again. */
export function isGone(error: Error | null): boolean {
  return error instanceof ApiError && error.status === 404;
}
