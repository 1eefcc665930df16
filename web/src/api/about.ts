import { useQuery } from '@tanstack/react-query';
import { api, dataOf } from './client';

/** What this server is. It does not change while it runs, so it is asked once. */
export function useAbout() {
  return useQuery({
    queryKey: ['about'],
    queryFn: () => dataOf(api.GET('/api/about')),
    staleTime: Number.POSITIVE_INFINITY,
  });
}
