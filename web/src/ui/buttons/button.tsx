import type { ButtonHTMLAttributes, ReactNode } from 'react';
import { classes } from '../classes';
import { Spinner } from '../feedback/spinner';

export type ButtonKind = 'primary' | 'secondary' | 'quiet' | 'danger';

const KINDS: Record<ButtonKind, string> = {
  primary: 'bg-accent text-accent-ink hover:brightness-110',
  secondary: 'border border-line bg-surface text-ink hover:bg-sunken',
  quiet: 'text-muted hover:bg-sunken hover:text-ink',
  danger: 'bg-bad-soft text-bad hover:brightness-95 dark:hover:brightness-125',
};

// Touch targets are larger than those for a pointer.
const SIZES = {
  small: 'h-8 px-2.5 text-sm pointer-coarse:h-10',
  medium: 'h-10 px-4 text-sm',
};

type Props = ButtonHTMLAttributes<HTMLButtonElement> & {
  kind?: ButtonKind;
  size?: keyof typeof SIZES;
  icon?: ReactNode;
  /** Work is in progress: the button is disabled and shows a spinner. */
  busy?: boolean;
};

/** The look of a button, also for links that look like one. */
export function buttonClasses(kind: ButtonKind = 'secondary', size: keyof typeof SIZES = 'medium'): string {
  return classes(
    'inline-flex shrink-0 items-center justify-center gap-2 rounded-lg font-medium whitespace-nowrap transition disabled:opacity-50',
    KINDS[kind],
    SIZES[size],
  );
}

export function Button({ kind, size, icon, busy = false, disabled, className, children, ...rest }: Props) {
  return (
    <button
      type="button"
      {...rest}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
      className={classes(buttonClasses(kind, size), className)}
    >
      {busy ? <Spinner /> : icon}
      {children}
    </button>
  );
}

/** A button with an icon only. Its label is the accessible name and the tooltip. */
export function IconButton({
  label,
  className,
  children,
  ...rest
}: Omit<Props, 'icon' | 'kind'> & { label: string }) {
  return (
    <button
      type="button"
      title={label}
      aria-label={label}
      {...rest}
      className={classes(
        'inline-flex size-9 pointer-coarse:size-10 shrink-0 items-center justify-center rounded-lg text-muted transition hover:bg-sunken hover:text-ink disabled:opacity-40',
        className,
      )}
    >
      {children}
    </button>
  );
}
