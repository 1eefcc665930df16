// Small pieces that several cards are made of.

import type { ReactNode } from 'react';
import { classes } from '@/ui/classes';
import type { CardSend } from '../use-card-send';

/** Facts in one quiet line; what is missing is left out. */
export function Facts({ facts }: { facts: (ReactNode | null | undefined | false)[] }) {
  const told = facts.filter((fact) => fact !== null && fact !== undefined && fact !== false && fact !== '');
  if (told.length === 0) return null;
  return (
    <p className="flex flex-wrap items-center gap-x-1 gap-y-1 text-xs text-muted">
      {told.map((fact, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the facts stay in their order.
        <span key={place} className="min-w-0 break-words">
          {place > 0 && <span aria-hidden>· </span>}
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

/** Buttons of a card, the main one first: it is what most people want. */
export function Buttons({ children }: { children: ReactNode }) {
  return <div className="flex flex-wrap items-center gap-2">{children}</div>;
}

/** That it was sent, or why it was not. */
export function SendOutcome({ send, sent }: { send: CardSend; sent: string }) {
  if (send.error)
    return (
      <p role="alert" className="text-sm text-bad">
        {send.error} What you have entered is still here.
      </p>
    );
  return (
    <p role="status" className={classes('text-xs text-muted', !send.sent && 'sr-only')}>
      {send.sent ? sent : ''}
    </p>
  );
}

/** Long text in a box of its own, which can be scrolled by keyboard too. */
export function ScrollBox({
  label,
  className,
  children,
}: {
  label: string;
  className?: string;
  children: ReactNode;
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a section would be a landmark, and a page may have dozens of these.
    <div
      role="group"
      tabIndex={0}
      aria-label={label}
      className={classes('max-h-96 overflow-auto rounded-lg', className)}
    >
      {children}
    </div>
  );
}
