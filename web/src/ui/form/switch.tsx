import type { InputHTMLAttributes } from 'react';
import { classes } from '../classes';

/** A toggle. A native checkbox, so that a label works as usual. */
export function Switch({ className, ...rest }: Omit<InputHTMLAttributes<HTMLInputElement>, 'type'>) {
  return (
    <span className={classes('relative inline-flex h-6 w-11 shrink-0 items-center', className)}>
      <input
        {...rest}
        type="checkbox"
        role="switch"
        aria-checked={rest.checked}
        className="peer size-full cursor-pointer appearance-none rounded-full border border-line-strong bg-sunken transition checked:border-accent checked:bg-accent disabled:cursor-not-allowed disabled:opacity-50"
      />
      <span className="pointer-events-none absolute left-1 size-4 rounded-full bg-line-strong transition peer-checked:translate-x-5 peer-checked:bg-accent-ink" />
    </span>
  );
}
