// Reviews as the server has them, and the way to decide them.

import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, dataOf } from '@/api/client';
import { useIdentity } from '@/api/identity';
import { ApiError } from '@/api/problem';
import type { Review, ReviewItem } from '@/protocol';
import { say } from '@/ui/toast';

const LOOK_AGAIN_MS = 5_000;
const COUNT_AGAIN_MS = 10_000;
export const PAGE_SIZE = 25;
/** The server tells no total, so the count goes no further than one page of the largest size. */
export const MOST_COUNTED = 100;

/** What one run has asked. Read again while one of those that are looked at is not decided. */
export function useReviewsOf(executionId: string, reviewId?: string) {
  return useQuery({
    queryKey: ['reviews', 'execution', executionId],
    queryFn: () =>
      dataOf(
        api.GET('/api/review/execution/{execution_id}', { params: { path: { execution_id: executionId } } }),
      ),
    select: (reviews) => (reviewId ? reviews.filter((review) => review.node_exec_id === reviewId) : reviews),
    refetchInterval: (query) => {
      const watched = query.state.data?.filter((review) => !reviewId || review.node_exec_id === reviewId);
      return watched?.some(isWaiting) ? LOOK_AGAIN_MS : false;
    },
  });
}

export function usePending(page: number) {
  return useQuery({
    queryKey: ['reviews', 'pending', page],
    queryFn: () =>
      dataOf(api.GET('/api/review/pending', { params: { query: { page, page_size: PAGE_SIZE } } })),
    refetchInterval: LOOK_AGAIN_MS,
    placeholderData: keepPreviousData,
  });
}

/** How many wait, at most `MOST_COUNTED`. */
export function usePendingCount() {
  const { wanted } = useIdentity();
  return useQuery({
    queryKey: ['reviews', 'count'],
    queryFn: () =>
      dataOf(api.GET('/api/review/pending', { params: { query: { page: 1, page_size: MOST_COUNTED } } })),
    select: (reviews) => reviews.length,
    refetchInterval: COUNT_AGAIN_MS,
    // Nobody is signed in: there is nobody to count for.
    enabled: !wanted,
  });
}

/** Sends decisions of one run. It is under way until the lists have been read again. */
export function useDecide() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (reviews: ReviewItem[]) => dataOf(api.POST('/api/review/action', { body: { reviews } })),
    onSuccess: ({ approved_count, rejected_count }) => say(newsOf(approved_count, rejected_count), 'good'),
    onError: (error) => {
      if (wasOvertaken(error)) say(error.message, 'warn');
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['reviews'] }),
  });
}

/** Somebody else has decided, or the run has ended: reading again shows how things stand. */
export function wasOvertaken(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 409 || error.status === 404);
}

export function isWaiting(review: Review): boolean {
  return review.status === 'WAITING';
}

function newsOf(approved: number, rejected: number): string {
  const all = approved + rejected;
  const what = approved > 0 ? 'Approved' : 'Rejected';
  return all > 1 ? `${what}: ${all} reviews.` : `${what}.`;
}
