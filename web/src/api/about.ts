import { useQuery } from '@tanstack/react-query';
import { api, dataOf } from './client';

/** Information about the server. It doesn't change while the server runs, so it is fetched once. */
export function useAbout() {
  return useQuery({
    queryKey: ['about'],
    queryFn: () => dataOf(api.GET('/api/about')),
    staleTime: Number.POSITIVE_INFINITY,
  });
}
