// Layout of a style guide example: its title, and the example in the current theme or in both.

import { createContext, type ReactNode, useContext } from 'react';
import { classes } from '@/ui/classes';

export const BothThemes = createContext(false);

export function Specimen({ title, children }: { title: string; children: ReactNode }) {
  const both = useContext(BothThemes);
  return (
    <div className="min-w-0">
      <p className="mb-1.5 text-xs text-muted">{title}</p>
      {both ? (
        <div className="grid gap-3 lg:grid-cols-2">
          <Pane theme="light">{children}</Pane>
          {/* Visual only: screen readers and keyboard users get the example once. */}
          <Pane theme="dark" inert>
            {children}
          </Pane>
        </div>
      ) : (
        children
      )}
    </div>
  );
}

type PaneProps = { theme: 'light' | 'dark'; inert?: boolean; children: ReactNode };

function Pane({ theme, inert, children }: PaneProps) {
  return (
    <div
      data-theme={theme}
      inert={inert}
      className="min-w-0 rounded-xl border border-line bg-canvas p-3 text-ink"
    >
      {children}
    </div>
  );
}

/** A section of the style guide that the index links to. */
export function Chapter({ id, title, children }: { id: string; title: string; children: ReactNode }) {
  return (
    <section id={id} aria-labelledby={`${id}-title`} className="flex scroll-mt-4 flex-col gap-6">
      <h2
        id={`${id}-title`}
        tabIndex={-1}
        className="border-b border-line pb-2 text-xl font-semibold tracking-tight outline-none"
      >
        {title}
      </h2>
      {children}
    </section>
  );
}

export function Entry({ title, children, mono }: { title: string; children: ReactNode; mono?: boolean }) {
  return (
    <div className="flex min-w-0 flex-col gap-3">
      {/* Focusable, since the index moves the focus here. */}
      <h3 tabIndex={-1} className={classes('font-medium outline-none', mono && 'font-mono text-sm')}>
        {title}
      </h3>
      {children}
    </div>
  );
}
