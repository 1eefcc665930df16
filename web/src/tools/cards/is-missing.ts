import { ApiError } from '@/api/problem';

/** Whether the server answered 404. Polling stops then; after any other error it continues. */
export function isMissing(error: Error | null): boolean {
  return error instanceof ApiError && error.status === 404;
}
