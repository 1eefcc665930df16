import { useEffect, useState } from 'react';
import { duration } from '@/ui/format';

/**
 * Milliseconds since `since`, or since this was first shown; counted once a second while `running`.
 * Nothing is counted while nobody looks: the difference of two clocks is right whenever it is read.
 */
export function useElapsed(running: boolean, since?: number): number {
  const [shownAt] = useState(() => Date.now());
  const [now, setNow] = useState(shownAt);
  useEffect(() => {
    if (!running) return;
    setNow(Date.now());
    const timer = setInterval(() => {
      if (!document.hidden) setNow(Date.now());
    }, 1000);
    return () => clearInterval(timer);
  }, [running]);
  // The clocks of the server and of this machine may differ.
  return Math.max(0, now - (since ?? shownAt));
}

/** A clock that ticks in seconds shows no tenths. */
export function elapsedWords(ms: number): string {
  return ms < 10_000 ? `${Math.floor(ms / 1000)} s` : duration(Math.floor(ms / 1000) * 1000);
}
