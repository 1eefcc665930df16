// The list of sessions, page by page, kept fresh by asking again.

import { type InfiniteData, keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { api, dataOf } from '@/api/client';
import type { SessionList, SessionSummary } from '@/protocol';

/** The query key of everything that lists sessions. Invalidate it when a turn starts or ends. */
export const SESSIONS = ['sessions'] as const;

export type SessionPages = InfiniteData<SessionList>;

const PAGE = 50;
const CALM_MS = 10_000;
const BUSY_MS = 2_000;
/** Of somebody who types. */
const PAUSE_MS = 200;

/** Those whose title has the words, or all. The page knows of a turn it has begun before the list does. */
export function useSessions(words: string, runningId: string | null) {
  const search = useSettled(words.trim());
  const query = useInfiniteQuery({
    queryKey: [...SESSIONS, search],
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
    refetchInterval: ({ state }) => pause(state.data, runningId !== null),
  });
  const sessions = useMemo(
    () => sessionsOf(query.data).map((one) => (one.id === runningId ? { ...one, is_processing: true } : one)),
    [query.data, runningId],
  );
  return { ...query, sessions };
}

/** Every page is asked for again, so a long list is asked for less often. */
function pause(data: SessionPages | undefined, knownToRun: boolean): number {
  const running = knownToRun || sessionsOf(data).some((session) => session.is_processing);
  return (running ? BUSY_MS : CALM_MS) * Math.max(1, data?.pages.length ?? 1);
}

/** Each session once: one that moved to the top between two pages would be on both. */
function sessionsOf(data: SessionPages | undefined): SessionSummary[] {
  const all = data?.pages.flatMap((page) => page.sessions) ?? [];
  return [...new Map(all.map((session) => [session.id, session])).values()];
}

/** What somebody types, once they pause: not every letter is worth a question. */
function useSettled(words: string): string {
  const [settled, setSettled] = useState(words);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(words), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [words]);
  return words === '' ? '' : settled;
}
