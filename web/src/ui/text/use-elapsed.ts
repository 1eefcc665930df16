import { useState } from 'react';
import { useNow } from '@/lib/use-now';
import { duration } from './format';

/** Milliseconds since `since`, or since the component was mounted; updated every second while `running`. */
export function useElapsed(running: boolean, since?: number): number {
  const [shownAt] = useState(() => Date.now());
  const now = useNow(running);
  // Not negative, even if the clocks of the server and the browser differ.
  return Math.max(0, now - (since ?? shownAt));
}

/** The elapsed time without tenths, since it is updated once a second. */
export function elapsedText(ms: number): string {
  return ms < 10_000 ? `${Math.floor(ms / 1000)} s` : duration(Math.floor(ms / 1000) * 1000);
}
