import { useEffect, useRef } from 'react';
import type { SessionHandle } from '@/session/types';
import { Button } from '@/ui/button';

/** How far ahead of the top the next page is loaded. */
const AHEAD = '800px 0px 0px 0px';

/** Loads earlier messages on scrolling, or by a button. */
export function EarlierMessages({ handle, root }: { handle: SessionHandle; root: () => HTMLElement | null }) {
  const mark = useRef<HTMLDivElement>(null);
  const { hasOlder, loadingOlder, loadOlder } = handle;
  useEffect(() => {
    if (!mark.current || !hasOlder || loadingOlder) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) loadOlder();
      },
      { root: root(), rootMargin: AHEAD },
    );
    observer.observe(mark.current);
    return () => observer.disconnect();
  }, [hasOlder, loadingOlder, loadOlder, root]);
  if (!hasOlder) return null;
  return (
    <div ref={mark} className="flex h-12 items-center justify-center">
      <Button kind="quiet" busy={loadingOlder} onClick={loadOlder}>
        {loadingOlder ? 'Loading earlier messages…' : 'Load earlier messages'}
      </Button>
    </div>
  );
}
