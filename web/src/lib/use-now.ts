import { useEffect, useState } from 'react';

/** The current time, updated every second while `running`. A hidden page skips updates that nobody would see. */
export function useNow(running = true): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!running) return;
    setNow(Date.now());
    const timer = setInterval(() => {
      if (!document.hidden) setNow(Date.now());
    }, 1_000);
    return () => clearInterval(timer);
  }, [running]);
  return now;
}
