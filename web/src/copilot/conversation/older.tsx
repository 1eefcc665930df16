import { useEffect, useRef } from 'react';
import type { SessionHandle } from '@/session/types';
import { Button } from '@/ui/button';

/** So far before its beginning the next page is asked for. */
const AHEAD = '800px 0px 0px 0px';

/** The way to earlier messages: by scrolling, or by a button. */
export function Older({ handle, root }: { handle: SessionHandle; root: () => HTMLElement | null }) {
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
        {loadingOlder ? 'Loading earlier messages' : 'Earlier messages'}
      </Button>
    </div>
  );
}
