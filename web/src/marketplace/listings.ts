// Queries of the marketplace.

import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, dataOf } from '@/api/client';
import { NUMBERED_PAGES } from '@/api/pagination';
import { isNotFound } from '@/api/problem';

export type ListingFilter = { searchText?: string; category?: string; creator?: string };

const PAGE_SIZE = 24;

export function listingsQuery({ searchText, category, creator }: ListingFilter) {
  return infiniteQueryOptions({
    queryKey: ['marketplace', 'listings', { searchText, category, creator }],
    queryFn: ({ pageParam }) =>
      dataOf(
        api.GET('/api/store/agents', {
          params: {
            query: { search_query: searchText, category, creator, page: pageParam, page_size: PAGE_SIZE },
          },
        }),
      ),
    ...NUMBERED_PAGES,
  });
}

/** Categories of the marketplace agents, the most frequent first. */
export const categoriesQuery = queryOptions({
  queryKey: ['marketplace', 'categories'],
  queryFn: async () => {
    const { agents } = await dataOf(api.GET('/api/store/agents', { params: { query: { page_size: 100 } } }));
    const counts = new Map<string, number>();
    for (const category of agents.flatMap((agent) => agent.categories)) {
      counts.set(category, (counts.get(category) ?? 0) + 1);
    }
    return [...counts].sort(([a, m], [b, n]) => n - m || a.localeCompare(b)).map(([category]) => category);
  },
  staleTime: 60_000,
});

export function listingQuery(creator: string, slug: string) {
  return queryOptions({
    queryKey: ['marketplace', 'listing', creator, slug],
    queryFn: () =>
      dataOf(
        api.GET('/api/store/agents/{username}/{slug}', { params: { path: { username: creator, slug } } }),
      ),
  });
}

/** The user's library entry for a listing; `null` if it is not in the library. */
export function entryQuery(listingVersionId: string) {
  return queryOptions({
    queryKey: ['library', 'of-listing', listingVersionId],
    queryFn: async () => {
      try {
        const entry = await dataOf(
          api.GET('/api/library/agents/marketplace/{store_listing_version_id}', {
            params: { path: { store_listing_version_id: listingVersionId } },
          }),
        );
        return { id: entry.id };
      } catch (error) {
        if (isNotFound(error)) return null;
        throw error;
      }
    },
  });
}
