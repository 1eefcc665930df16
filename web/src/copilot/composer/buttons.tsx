// The buttons and the character counter of the composer.

import { ArrowUp, CornerDownRight, Square } from 'lucide-react';
import { classes } from '@/ui/classes';
import { Spinner } from '@/ui/feedback/spinner';
import { count } from '@/ui/text/format';

/** Stops the running turn. */
export function StopButton({ stopping, onStop }: { stopping: boolean; onStop: () => void }) {
  return (
    <button
      type="button"
      onClick={onStop}
      disabled={stopping}
      title="Stop (Ctrl+.)"
      aria-keyshortcuts="Control+. Meta+."
      className="inline-flex h-10 shrink-0 items-center gap-2 rounded-xl border border-line bg-surface px-3 text-sm font-medium transition hover:bg-sunken disabled:opacity-60"
    >
      {stopping ? <Spinner /> : <Square aria-hidden className="size-3.5 fill-current" />}
      {stopping ? 'Stopping…' : 'Stop'}
    </button>
  );
}

type SendProps = { followUp: boolean; disabled: boolean; sending: boolean };

export function SendButton({ followUp, disabled, sending }: SendProps) {
  const label = followUp ? 'Send follow-up' : 'Send';
  const Icon = followUp ? CornerDownRight : ArrowUp;
  return (
    <button
      type="submit"
      disabled={disabled}
      aria-label={label}
      aria-busy={sending || undefined}
      title={label}
      className="inline-flex size-10 shrink-0 items-center justify-center rounded-xl bg-accent text-accent-ink transition hover:brightness-110 disabled:bg-sunken disabled:text-muted"
    >
      {sending ? <Spinner /> : <Icon aria-hidden className="size-5" />}
    </button>
  );
}

type CounterProps = { length: number; limit: number; warnAt: number };

/** Shows how many characters are left, once the limit is near. */
export function Counter({ length, limit, warnAt }: CounterProps) {
  const left = limit - length;
  if (left >= warnAt) return null;
  return (
    <p role="status" className={classes('px-4 text-xs tabular-nums', left < 0 ? 'text-bad' : 'text-muted')}>
      {left < 0 ? `${characters(-left)} over the limit` : `${characters(left)} left`}
    </p>
  );
}

function characters(number: number): string {
  return `${count(number)} ${number === 1 ? 'character' : 'characters'}`;
}
