// The tools of the server, from which the labels of calls are taken.

import { queryOptions } from '@tanstack/react-query';
import { api, dataOf } from '@/api/client';

/** They don't change while the server runs, so they are fetched once. The page of a chat does that before it has calls. */
export const TOOLS_QUERY = queryOptions({
  queryKey: ['tools'],
  queryFn: () => dataOf(api.GET('/api/chat/tools')),
  staleTime: Number.POSITIVE_INFINITY,
  gcTime: Number.POSITIVE_INFINITY,
  refetchOnWindowFocus: false,
  // Every row of a call reads this; after a failure, the next chat that is opened tries again.
  retryOnMount: false,
});
