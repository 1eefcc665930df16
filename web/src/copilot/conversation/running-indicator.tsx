import type { Phase, SessionHandle } from '@/session/types';
import { classes } from '@/ui/classes';
import { duration } from '@/ui/text/format';
import { useElapsed } from '@/ui/text/use-elapsed';

/** Shown instead of the status the turn reports. */
const PHASE_LABELS: Partial<Record<Phase, string>> = {
  stopping: 'Stopping…',
  reconnecting: 'Reconnecting…',
};

/** The elapsed time is shown after this long. */
const SHOW_ELAPSED_AFTER_MS = 20_000;

/** The line below a running response. It stays mounted while the turn runs, so that the layout doesn't shift. */
export function RunningIndicator({ handle, quiet }: { handle: SessionHandle; quiet: boolean }) {
  const { phase, status, slow, busySince } = handle;
  const elapsed = useElapsed(busySince !== null, busySince ?? undefined);
  const label = PHASE_LABELS[phase] ?? status ?? (quiet ? null : 'Thinking…');
  return (
    <div className="flex min-h-8 flex-col gap-1 text-sm text-muted">
      <div className="flex min-h-8 items-center gap-2.5">
        <span aria-hidden className="flex gap-1">
          {DOTS.map((delay) => (
            <span key={delay} className={classes('size-1.5 animate-pulse rounded-full bg-accent', delay)} />
          ))}
        </span>
        <span role="status" className="min-w-0 truncate">
          {label}
        </span>
        {busySince !== null && elapsed > SHOW_ELAPSED_AFTER_MS && (
          <span className="shrink-0 tabular-nums">{duration(elapsed)}</span>
        )}
      </div>
      {slow && (
        <p className="rounded-lg bg-warn-soft px-3 py-2 text-warn">
          Still waiting after 12 seconds. The server may be busy; your message is safe.
        </p>
      )}
    </div>
  );
}

const DOTS = ['', '[animation-delay:200ms]', '[animation-delay:400ms]'];
