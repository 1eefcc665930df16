import type { ReactNode } from 'react';
import { classes } from '../classes';

/** Scrollable box for long content, focusable for keyboard scrolling. */
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
