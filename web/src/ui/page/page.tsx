import { type ReactNode, useEffect } from 'react';

type Props = {
  title: string;
  /** The back link, above the heading. */
  before?: ReactNode;
  subtitle?: ReactNode;
  actions?: ReactNode;
  wide?: boolean;
  children: ReactNode;
};

/** The layout of every page except the copilot: heading, actions and content. */
export function Page({ title, before, subtitle, actions, wide, children }: Props) {
  useTitle(title);
  return (
    // Scrollable content must be focusable by keyboard, even on a page without controls.
    <div tabIndex={0} className="relative h-full overflow-y-auto outline-none">
      <div
        className={`mx-auto flex w-full flex-col gap-6 px-4 py-6 sm:px-8 sm:py-8 ${wide ? 'max-w-7xl' : 'max-w-5xl'}`}
      >
        <header className="flex flex-wrap items-start justify-between gap-4">
          <div className="min-w-0 flex-1 basis-64">
            {before}
            <h1 className="text-2xl font-semibold tracking-tight break-words">{title}</h1>
            {subtitle && <div className="mt-1 text-sm text-muted">{subtitle}</div>}
          </div>
          {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
        </header>
        {children}
      </div>
    </div>
  );
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Pilothouse`;
  }, [title]);
}

/** A box with a heading. */
export function Panel({
  title,
  actions,
  children,
}: {
  title?: string;
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section className="rounded-2xl border border-line bg-surface p-4 sm:p-5">
      {(title || actions) && (
        <header className="mb-3 flex items-center justify-between gap-3">
          {title && <h2 className="font-semibold">{title}</h2>}
          {actions}
        </header>
      )}
      {children}
    </section>
  );
}
