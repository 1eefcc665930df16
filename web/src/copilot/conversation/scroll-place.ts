import { type RefObject, useLayoutEffect, useRef } from 'react';

/** Keeps what is read where it is when earlier messages come in above it. */
export function useScrollPlace(scroller: RefObject<HTMLElement | null>, firstId: string | undefined): void {
  const seen = useRef({ firstId, height: 0, top: 0 });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const note = () => {
      seen.current = { ...seen.current, height: element.scrollHeight, top: element.scrollTop };
    };
    element.addEventListener('scroll', note, { passive: true });
    return () => element.removeEventListener('scroll', note);
  }, [scroller]);
  useLayoutEffect(() => {
    const element = scroller.current;
    const { firstId: before, height, top } = seen.current;
    if (!element || before === firstId) return;
    // An absolute place: whatever the browser has done by itself to keep it is overruled.
    if (before !== undefined && height > 0) element.scrollTop = top + element.scrollHeight - height;
    seen.current = { firstId, height: element.scrollHeight, top: element.scrollTop };
  });
}
