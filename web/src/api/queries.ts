// The query cache, and its retry policy.

import { QueryClient } from '@tanstack/react-query';
import { ApiError } from './problem';

const RETRIES = 3;

/** Errors worth retrying: no connection, too many requests, a server that is restarting. */
export function isTransientError(error: unknown): boolean {
  return error instanceof ApiError && (error.isOffline || error.status === 429 || error.status >= 500);
}

export function newQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        retry: (failures, error) => failures < RETRIES && isTransientError(error),
        retryDelay: (attempt) => Math.min(500 * 2 ** attempt, 5_000),
        staleTime: 2_000,
      },
    },
  });
}
