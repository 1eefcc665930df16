import { type RefObject, useEffect } from 'react';

type Options = {
  /** Nothing is watched while this is false. */
  enabled: boolean;
  /** Called when the element comes into view. */
  onSight: () => unknown;
  /** How far ahead of the view it is called. */
  rootMargin: string;
  /** The scrolling container; the window by default. */
  root?: () => HTMLElement | null;
};

/** Calls a function when an element scrolls into view, and again after each change of `enabled`. */
export function useOnSight(
  element: RefObject<HTMLElement | null>,
  { enabled, onSight, rootMargin, root }: Options,
): void {
  useEffect(() => {
    if (!enabled || !element.current) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) onSight();
      },
      { root: root?.(), rootMargin },
    );
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element, enabled, onSight, rootMargin, root]);
}
