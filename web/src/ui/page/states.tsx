// The loading, empty and error states of a page.

import { CircleAlert, WifiOff } from 'lucide-react';
import type { ReactNode } from 'react';
import { ApiError, errorMessage } from '@/api/problem';
import { Button } from '../buttons/button';
import { classes } from '../classes';

/** Gray placeholders in the shape of the content, so that the layout doesn't shift when it arrives. */
export function Skeleton({ className }: { className?: string }) {
  return <div aria-hidden className={classes('animate-pulse rounded-lg bg-sunken', className)} />;
}

export function Loading({
  label = 'Loading…',
  rows = 3,
  height = 'h-20',
}: {
  label?: string;
  rows?: number;
  height?: string;
}) {
  return (
    <div role="status" className="flex flex-col gap-3">
      <span className="sr-only">{label}</span>
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all alike.
        <Skeleton key={row} className={height} />
      ))}
    </div>
  );
}

/** A grid of cards. */
export function LoadingCards({ label }: { label: string }) {
  return (
    <div role="status" className="grid gap-3 sm:grid-cols-2 xl:grid-cols-3">
      <span className="sr-only">{label}</span>
      {['a', 'b', 'c', 'd', 'e', 'f'].map((key) => (
        <Skeleton key={key} className="h-40 rounded-2xl" />
      ))}
    </div>
  );
}

export function Empty({
  icon,
  title,
  children,
  action,
}: {
  icon?: ReactNode;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className="flex flex-col items-center gap-3 px-4 py-16 text-center">
      {icon && <div className="text-muted [&>svg]:size-10">{icon}</div>}
      <p className="text-lg font-medium">{title}</p>
      {children && <div className="max-w-md text-sm text-muted">{children}</div>}
      {action}
    </div>
  );
}

/** An error message with a retry button. */
export function Failure({ error, onRetry, title }: { error: unknown; onRetry?: () => void; title?: string }) {
  const offline = error instanceof ApiError && error.isOffline;
  const Icon = offline ? WifiOff : CircleAlert;
  return (
    <div
      role="alert"
      className="flex flex-wrap items-center gap-3 rounded-xl border border-bad/30 bg-bad-soft px-4 py-3 text-sm"
    >
      <Icon aria-hidden className="size-5 shrink-0 text-bad" />
      <div className="min-w-0 flex-1">
        {title && <p className="font-medium">{title}</p>}
        <p className="break-words">{errorMessage(error)}</p>
        {error instanceof ApiError && !offline && (
          <p className="mt-0.5 font-mono text-xs text-muted">{error.code}</p>
        )}
      </div>
      {onRetry && (
        <Button size="small" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}
