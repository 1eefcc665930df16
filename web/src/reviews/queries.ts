// Queries of reviews, and the mutation that decides them.

import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, dataOf } from '@/api/client';
import { useIdentity } from '@/api/identity';
import { ApiError } from '@/api/problem';
import type { Review, ReviewItem } from '@/protocol';
import { showToast } from '@/ui/feedback/toast';

const POLL_MS = 5_000;
const COUNT_POLL_MS = 10_000;
export const PAGE_SIZE = 25;
/** The server returns no total, so the count is limited to one page of the maximum size. */
export const MAX_COUNT = 100;

/** Reviews of one run. Polled while one of those shown is undecided. */
export function useReviewsOf(executionId: string, reviewId?: string) {
  return useQuery({
    queryKey: ['reviews', 'execution', executionId],
    queryFn: () =>
      dataOf(
        api.GET('/api/review/execution/{execution_id}', { params: { path: { execution_id: executionId } } }),
      ),
    select: (reviews) => (reviewId ? reviews.filter((review) => review.node_exec_id === reviewId) : reviews),
    refetchInterval: (query) => {
      const shown = query.state.data?.filter((review) => !reviewId || review.node_exec_id === reviewId);
      return shown?.some(isWaiting) ? POLL_MS : false;
    },
  });
}

export function usePending(page: number) {
  return useQuery({
    queryKey: ['reviews', 'pending', page],
    queryFn: () =>
      dataOf(api.GET('/api/review/pending', { params: { query: { page, page_size: PAGE_SIZE } } })),
    refetchInterval: POLL_MS,
    placeholderData: keepPreviousData,
  });
}

/** Number of pending reviews, up to `MAX_COUNT`. */
export function usePendingCount() {
  const { wanted } = useIdentity();
  return useQuery({
    queryKey: ['reviews', 'count'],
    queryFn: () =>
      dataOf(api.GET('/api/review/pending', { params: { query: { page: 1, page_size: MAX_COUNT } } })),
    select: (reviews) => reviews.length,
    refetchInterval: COUNT_POLL_MS,
    // Disabled while no user is signed in.
    enabled: !wanted,
  });
}

/** Sends decisions of one run. Pending until the lists have been fetched again. */
export function useDecide() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (reviews: ReviewItem[]) => dataOf(api.POST('/api/review/action', { body: { reviews } })),
    onSuccess: ({ approved_count, rejected_count }) =>
      showToast(decisionMessage(approved_count, rejected_count), 'good'),
    onError: (error) => {
      if (wasAlreadyDecided(error)) showToast(error.message, 'warn');
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['reviews'] }),
  });
}

/** The review was decided elsewhere or its run has ended; fetching again shows the current state. */
export function wasAlreadyDecided(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 409 || error.status === 404);
}

export function isWaiting(review: Review): boolean {
  return review.status === 'WAITING';
}

function decisionMessage(approved: number, rejected: number): string {
  const all = approved + rejected;
  const verb = approved > 0 ? 'Approved' : 'Rejected';
  return all > 1 ? `${verb} ${all} reviews.` : `${verb}.`;
}
