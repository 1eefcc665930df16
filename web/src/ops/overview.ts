// The state of the server, read again and again while the page is looked at.

import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { addressOf } from '@/api/base';
import { answerTo } from '@/api/client';
import { identityHeaders } from '@/api/identity';
import { ApiError } from '@/api/problem';
import type { OpsOverview } from '@/protocol';
import { useInternalKey } from './internal-key';

const READ_AGAIN_MS = 2_000;
/** While a server that ours rests on is away, not everything can be read. */
export const UNKNOWN = 'cannot be read now';
/** Five minutes. */
export const MOST_KEPT = 150;

export function useOverview() {
  const key = useInternalKey();
  return useQuery({
    queryKey: ['ops', 'overview', key],
    queryFn: async ({ signal }): Promise<OpsOverview> => {
      // A refusal here asks for the internal key, not for a login.
      const headers = key ? { 'x-api-key': key } : identityHeaders();
      const answer = await answerTo(
        new Request(new URL(addressOf('/api/ops/overview'), location.href), { headers, signal }),
      );
      return answer.json();
    },
    // Without the right key nothing changes until another is given.
    refetchInterval: ({ state }) => (wantsKey(state.error) ? false : READ_AGAIN_MS),
    // The next look comes soon enough by itself.
    retry: false,
  });
}

export function wantsKey(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}

export type Sample = {
  at: number;
  /** Null where it could not be read. */
  turns: number | null;
  executions: number | null;
  depth: number | null;
  streams: number;
};

/** What was seen since the page was opened, the oldest first. */
export function useSamples(overview: OpsOverview | undefined, at: number): Sample[] {
  const [samples, setSamples] = useState<Sample[]>([]);
  useEffect(() => {
    if (!overview) return;
    const sample = {
      at,
      turns: overview.turns.running ?? null,
      executions: overview.executions.running ?? null,
      depth: overview.queue.depth ?? null,
      streams: overview.streams.open,
    };
    setSamples((kept) => (kept.at(-1)?.at === at ? kept : [...kept.slice(1 - MOST_KEPT), sample]));
  }, [overview, at]);
  return samples;
}

/** The time, every second, for ages that grow by themselves. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
