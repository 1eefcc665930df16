import { useRef } from 'react';
import type { SessionHandle } from '@/session/types';
import { Button } from '@/ui/buttons/button';
import { useOnSight } from '@/ui/page/use-on-sight';

/** How far ahead of the top the next page is loaded. */
const AHEAD = '800px 0px 0px 0px';

/** Loads earlier messages on scrolling, or by a button. */
export function EarlierMessages({ handle, root }: { handle: SessionHandle; root: () => HTMLElement | null }) {
  const mark = useRef<HTMLDivElement>(null);
  const { hasOlder, loadingOlder, loadOlder } = handle;
  useOnSight(mark, { enabled: hasOlder && !loadingOlder, onSight: loadOlder, rootMargin: AHEAD, root });
  if (!hasOlder) return null;
  return (
    <div ref={mark} className="flex h-12 items-center justify-center">
      <Button kind="quiet" busy={loadingOlder} onClick={loadOlder}>
        {loadingOlder ? 'Loading earlier messages…' : 'Load earlier messages'}
      </Button>
    </div>
  );
}
