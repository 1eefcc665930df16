import { ChevronRight } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';

type Props = {
  title: ReactNode;
  children: ReactNode;
  /** Opens it. It is never closed automatically, since the user may be working in it. */
  open?: boolean;
};

/** A collapsible section. A native `details` element, so that find in page works. */
export function Fold({ title, children, open = false }: Props) {
  const details = useRef<HTMLDetailsElement>(null);
  const [initiallyOpen] = useState(open);
  useEffect(() => {
    if (open && details.current) details.current.open = true;
  }, [open]);
  return (
    <details ref={details} open={initiallyOpen} className="group">
      <summary className="flex list-none items-center gap-1.5 rounded text-sm pointer-coarse:min-h-10 text-muted hover:text-ink [&::-webkit-details-marker]:hidden">
        <ChevronRight aria-hidden className="size-4 shrink-0 transition-transform group-open:rotate-90" />
        <span className="min-w-0">{title}</span>
      </summary>
      <div className="mt-2">{children}</div>
    </details>
  );
}

/** Formatted JSON, truncated so that a huge value doesn't stall the page. */
export function Json({ value, limit = 20_000 }: { value: unknown; limit?: number }) {
  const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? 'undefined');
  const cut = text.length > limit;
  return (
    // Scrollable content must be focusable by keyboard.
    <pre
      tabIndex={0}
      className="max-h-80 overflow-auto rounded-lg bg-sunken p-3 font-mono text-xs whitespace-pre-wrap break-words"
    >
      {cut ? `${text.slice(0, limit)}\n… ${text.length - limit} more characters` : text}
    </pre>
  );
}
