import type { ReactNode } from 'react';
import { classes } from '../classes';

export type Tone = 'neutral' | 'accent' | 'good' | 'warn' | 'bad';

const TONES: Record<Tone, string> = {
  neutral: 'bg-sunken text-muted',
  accent: 'bg-accent-soft text-accent',
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
};

export function Badge({ tone = 'neutral', children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span
      className={classes(
        'inline-flex items-center gap-1 rounded-full px-2 py-0.5 text-xs font-medium whitespace-nowrap',
        TONES[tone],
      )}
    >
      {children}
    </span>
  );
}

const DOTS: Record<Tone, string> = {
  neutral: 'bg-line-strong',
  accent: 'bg-accent',
  good: 'bg-good',
  warn: 'bg-warn',
  bad: 'bg-bad',
};

/** A colored dot with an accessible label. */
export function Dot({ tone, pulse, label }: { tone: Tone; pulse?: boolean; label: string }) {
  return (
    <span
      role="img"
      aria-label={label}
      title={label}
      className={classes('inline-block size-2 shrink-0 rounded-full', DOTS[tone], pulse && 'animate-pulse')}
    />
  );
}
