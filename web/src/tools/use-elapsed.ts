import { useEffect, useState } from 'react';
import { duration } from '@/ui/format';

/**
 * Milliseconds since `since`, or since the component was mounted; updated every second while `running`.
 * Updates are skipped while the page is hidden: the value is a difference of timestamps, so it stays correct.
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
  // Not negative, even if the clocks of the server and the browser differ.
  return Math.max(0, now - (since ?? shownAt));
}

/** The elapsed time without tenths, since it is updated once a second. */
export function elapsedText(ms: number): string {
  return ms < 10_000 ? `${Math.floor(ms / 1000)} s` : duration(Math.floor(ms / 1000) * 1000);
}
