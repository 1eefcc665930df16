// Small components shared by the cards.

import type { ReactNode } from 'react';
import { classes } from '@/ui/classes';
import type { CardSend } from '../use-card-send';

/** Secondary facts on one line; empty ones are left out. */
export function Facts({ facts }: { facts: (ReactNode | null | undefined | false)[] }) {
  const present = facts.filter(
    (fact) => fact !== null && fact !== undefined && fact !== false && fact !== '',
  );
  if (present.length === 0) return null;
  return (
    <p className="flex flex-wrap items-center gap-x-1 gap-y-1 text-xs text-muted">
      {present.map((fact, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the order of the facts never changes.
        <span key={index} className="min-w-0 break-words">
          {index > 0 && <span aria-hidden>· </span>}
          {fact}
        </span>
      ))}
    </p>
  );
}

export function Rows({ children }: { children: ReactNode }) {
  return <ul className="flex flex-col divide-y divide-line rounded-lg border border-line">{children}</ul>;
}

export function Row({ children, className }: { children: ReactNode; className?: string }) {
  return <li className={classes('min-w-0 px-3 py-2.5', className)}>{children}</li>;
}

/** Buttons of a card, the primary one first. */
export function Buttons({ children }: { children: ReactNode }) {
  return <div className="flex flex-wrap items-center gap-2">{children}</div>;
}

/** Confirmation that a message was sent, or the error. */
export function SendOutcome({ send, sent }: { send: CardSend; sent: string }) {
  if (send.error)
    return (
      <p role="alert" className="text-sm text-bad">
        {send.error} Your input is still here.
      </p>
    );
  return (
    <p role="status" className={classes('text-xs text-muted', !send.sent && 'sr-only')}>
      {send.sent ? sent : ''}
    </p>
  );
}
