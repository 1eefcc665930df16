import { useEffect, useRef } from 'react';
import { Button } from '@/ui/button';

/** Loads older sessions when the end of the list becomes visible, or on click. */
export function LoadMore({ busy, onMore }: { busy: boolean; onMore: () => void }) {
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
        Load older chats
      </Button>
    </div>
  );
}
