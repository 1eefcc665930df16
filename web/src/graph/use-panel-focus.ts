import { type KeyboardEvent, type PointerEvent, useEffect, useRef } from 'react';

/** Whoever chooses a node by keyboard comes to the panel that tells about it, and back to the node afterwards. */
export function usePanelFocus(chosen: string | null, unchoose: () => void) {
  const picture = useRef<HTMLElement>(null);
  const panel = useRef<HTMLElement>(null);
  const follows = useRef(false);

  useEffect(() => {
    if (chosen !== null && follows.current) panel.current?.focus({ preventScroll: true });
  }, [chosen]);

  function close() {
    // A node that is out of sight may not be in the page.
    const node = chosen === null ? null : nodeOf(picture.current, chosen);
    const next = node ?? picture.current?.querySelector<HTMLElement>('.react-flow');
    unchoose();
    next?.focus({ preventScroll: true });
  }

  const watch = {
    onKeyDownCapture(event: KeyboardEvent) {
      follows.current = true;
      if (chosen === null) return;
      if (event.key === 'Escape') {
        // The library would take the focus away from the node, too.
        event.stopPropagation();
        close();
      }
      const isAgain = event.target === nodeOf(picture.current, chosen);
      if (isAgain && (event.key === 'Enter' || event.key === ' ')) panel.current?.focus();
    },
    // The mouse stays in the picture; what is pressed in the panel may be gone with what it showed.
    onPointerDownCapture(event: PointerEvent) {
      follows.current = panel.current?.contains(event.target as Node) ?? false;
    },
  };
  return { picture, panel, watch, close };
}

function nodeOf(picture: HTMLElement | null, id: string): HTMLElement | null {
  const nodes = picture?.querySelectorAll<HTMLElement>('.react-flow__node') ?? [];
  return [...nodes].find((node) => node.dataset.id === id) ?? null;
}
