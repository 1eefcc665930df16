// The server overview, polled while the page is open.

import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { apiUrl } from '@/api/base';
import { sendRequest } from '@/api/client';
import { identityHeaders } from '@/api/identity';
import { ApiError } from '@/api/problem';
import type { OpsOverview } from '@/protocol';
import { useInternalKey } from './internal-key';

const POLL_MS = 2_000;
/** Shown for values that the server cannot read while one of its dependencies is down. */
export const UNAVAILABLE = 'Unavailable';
/** Five minutes of samples. */
export const MAX_SAMPLES = 150;

export function useOverview() {
  const key = useInternalKey();
  return useQuery({
    queryKey: ['ops', 'overview', key],
    queryFn: async ({ signal }): Promise<OpsOverview> => {
      // Bypasses the sign-in handling of the client: a 401 here asks for the internal key.
      const headers = key ? { 'x-api-key': key } : identityHeaders();
      const answer = await sendRequest(
        new Request(new URL(apiUrl('/api/ops/overview'), location.href), { headers, signal }),
      );
      return answer.json();
    },
    // Polling stops until the user enters another key.
    refetchInterval: ({ state }) => (needsInternalKey(state.error) ? false : POLL_MS),
    // The next poll is the retry.
    retry: false,
  });
}

export function needsInternalKey(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}

export type Sample = {
  at: number;
  /** Null if it is unavailable. */
  turns: number | null;
  executions: number | null;
  depth: number | null;
  streams: number;
};

/** Samples since the page was opened, oldest first. */
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
    setSamples((samples) =>
      samples.at(-1)?.at === at ? samples : [...samples.slice(1 - MAX_SAMPLES), sample],
    );
  }, [overview, at]);
  return samples;
}
