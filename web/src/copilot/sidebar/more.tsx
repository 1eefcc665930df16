import { useEffect, useRef } from 'react';
import { Button } from '@/ui/button';

/** Asks for older sessions when the end of the list comes into view, or when it is pressed. */
export function More({ busy, onMore }: { busy: boolean; onMore: () => void }) {
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (busy || !end.current) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && onMore(), {
      rootMargin: '200px',
    });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [busy, onMore]);
  return (
    <div ref={end} className="flex justify-center py-2">
      <Button kind="quiet" size="small" busy={busy} onClick={onMore}>
        Older sessions
      </Button>
    </div>
  );
}
