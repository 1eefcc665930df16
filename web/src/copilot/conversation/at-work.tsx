import { useEffect, useState } from 'react';
import type { Phase, SessionHandle } from '@/session/types';
import { classes } from '@/ui/classes';
import { duration } from '@/ui/format';

/** What is to be said whatever the turn says of itself. */
const PHASE_WORDS: Partial<Record<Phase, string>> = {
  stopping: 'Stopping',
  reconnecting: 'Waiting for the connection',
};

/** From then on it is worth saying how long it has taken. */
const WORTH_SAYING_MS = 20_000;

/** The line below a growing answer. It is there as long as the turn is at work, so nothing jumps when words come. */
export function AtWork({ handle, quiet }: { handle: SessionHandle; quiet: boolean }) {
  const { phase, status, slow, busySince } = handle;
  const elapsed = useElapsed(busySince);
  const words = PHASE_WORDS[phase] ?? status ?? (quiet ? null : 'Thinking');
  return (
    <div className="flex min-h-8 flex-col gap-1 text-sm text-muted">
      <div className="flex min-h-8 items-center gap-2.5">
        <span aria-hidden className="flex gap-1">
          {DOTS.map((delay) => (
            <span key={delay} className={classes('size-1.5 animate-pulse rounded-full bg-accent', delay)} />
          ))}
        </span>
        <span role="status" className="min-w-0 truncate">
          {words}
        </span>
        {elapsed !== null && elapsed > WORTH_SAYING_MS && (
          <span className="shrink-0 tabular-nums">{duration(elapsed)}</span>
        )}
      </div>
      {slow && (
        <p className="rounded-lg bg-warn-soft px-3 py-2 text-warn">
          Nothing has come for 12 seconds. The server may be busy; your message is kept, and we go on waiting.
        </p>
      )}
    </div>
  );
}

const DOTS = ['', '[animation-delay:200ms]', '[animation-delay:400ms]'];

/** Milliseconds since then, every second anew. */
function useElapsed(since: number | null): number | null {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (since === null) return;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [since]);
  return since === null ? null : Math.max(0, now - since);
}
