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
