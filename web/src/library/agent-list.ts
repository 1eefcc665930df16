// The query of the agents in the library: search, folder and order.

import { infiniteQueryOptions } from '@tanstack/react-query';
import { LIBRARY } from '@/agents/agent-queries';
import { api, dataOf } from '@/api/client';
import { NUMBERED_PAGES } from '@/api/pagination';

export const SORTS = {
  updatedAt: 'Recently updated',
  lastRunAt: 'Recently run',
  createdAt: 'Recently added',
  name: 'Name',
} as const;
export type Sort = keyof typeof SORTS;

/** Value of the `folder` search parameter for the favorites. Existing links have this spelling. */
export const FAVORITES = 'favourites';

export type AgentFilter = { searchText?: string; folder?: string; sort: Sort };

const PAGE_SIZE = 30;

export function agentsQuery({ searchText, folder, sort }: AgentFilter) {
  const isFavorites = folder === FAVORITES;
  return infiniteQueryOptions({
    queryKey: [...LIBRARY, 'agents', { searchText, folder, sort }],
    queryFn: ({ pageParam }) =>
      dataOf(
        api.GET(isFavorites ? '/api/library/agents/favorites' : '/api/library/agents', {
          params: {
            query: {
              search_term: searchText,
              sort_by: sort,
              page: pageParam,
              page_size: PAGE_SIZE,
              folder_id: isFavorites ? undefined : folder,
            },
          },
        }),
      ),
    ...NUMBERED_PAGES,
  });
}
