// The paginated list of sessions, refreshed by polling.

import { type InfiniteData, keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api, dataOf } from '@/api/client';
import { useDebouncedText } from '@/lib/use-debounced';
import type { SessionList, SessionSummary } from '@/protocol';

/** The query key of all session lists. Invalidate it when a turn starts or ends. */
export const SESSIONS_KEY = ['sessions'] as const;

export type SessionPages = InfiniteData<SessionList>;

const PAGE = 50;
const IDLE_POLL_MS = 10_000;
const RUNNING_POLL_MS = 2_000;

/** Sessions whose title matches the search, or all. The page knows about a turn it started before the list does. */
export function useSessions(text: string, runningId: string | null) {
  const search = useDebouncedText(text.trim());
  const query = useInfiniteQuery({
    queryKey: [...SESSIONS_KEY, search],
    queryFn: ({ pageParam, signal }) =>
      dataOf(
        api.GET('/api/chat/sessions', {
          params: { query: { limit: PAGE, offset: pageParam, search: search || undefined } },
          signal,
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: (last, pages): number | undefined => {
      const known = pages.reduce((sum, page) => sum + page.sessions.length, 0);
      return last.sessions.length > 0 && known < last.total ? known : undefined;
    },
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => pollInterval(state.data, runningId !== null),
  });
  const sessions = useMemo(
    () => sessionsOf(query.data).map((one) => (one.id === runningId ? { ...one, is_processing: true } : one)),
    [query.data, runningId],
  );
  return { ...query, sessions };
}

/** Each refresh reloads every page, so a longer list is refreshed less often. */
function pollInterval(data: SessionPages | undefined, isKnownRunning: boolean): number {
  const running = isKnownRunning || sessionsOf(data).some((session) => session.is_processing);
  return (running ? RUNNING_POLL_MS : IDLE_POLL_MS) * Math.max(1, data?.pages.length ?? 1);
}

/** Removes duplicates: a session that moved to the top between two requests would be on both pages. */
function sessionsOf(data: SessionPages | undefined): SessionSummary[] {
  const all = data?.pages.flatMap((page) => page.sessions) ?? [];
  return [...new Map(all.map((session) => [session.id, session])).values()];
}
