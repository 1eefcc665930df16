import { queryOptions } from '@tanstack/react-query';
import { api, dataOf } from '@/api/client';

export const apiKeysQuery = queryOptions({
  queryKey: ['api-keys'],
  queryFn: () => dataOf(api.GET('/api/api-keys')),
});
