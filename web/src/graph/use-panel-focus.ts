import { type KeyboardEvent, type PointerEvent, useEffect, useRef } from 'react';

/** Moves the focus to the panel when a node is selected by keyboard, and back to the node when the panel closes. */
export function usePanelFocus(chosen: string | null, deselect: () => void) {
  const view = useRef<HTMLElement>(null);
  const panel = useRef<HTMLElement>(null);
  const movesFocus = useRef(false);

  useEffect(() => {
    if (chosen !== null && movesFocus.current) panel.current?.focus({ preventScroll: true });
  }, [chosen]);

  function close() {
    // A node outside the viewport may not be rendered.
    const node = chosen === null ? null : nodeOf(view.current, chosen);
    const next = node ?? view.current?.querySelector<HTMLElement>('.react-flow');
    deselect();
    next?.focus({ preventScroll: true });
  }

  const handlers = {
    onKeyDownCapture(event: KeyboardEvent) {
      movesFocus.current = true;
      if (chosen === null) return;
      if (event.key === 'Escape') {
        // React Flow would also blur the node.
        event.stopPropagation();
        close();
      }
      const isSelectedNode = event.target === nodeOf(view.current, chosen);
      if (isSelectedNode && (event.key === 'Enter' || event.key === ' ')) panel.current?.focus();
    },
    // A click in the view keeps the focus there. A link clicked in the panel is unmounted, so the focus moves.
    onPointerDownCapture(event: PointerEvent) {
      movesFocus.current = panel.current?.contains(event.target as Node) ?? false;
    },
  };
  return {
    view,
    panel,
    handlers,
    close,
    /** The next node that is selected takes the focus to its panel. */
    moveFocus: () => {
      movesFocus.current = true;
      if (chosen !== null) panel.current?.focus({ preventScroll: true });
    },
  };
}

function nodeOf(view: HTMLElement | null, id: string): HTMLElement | null {
  const nodes = view?.querySelectorAll<HTMLElement>('.react-flow__node') ?? [];
  return [...nodes].find((node) => node.dataset.id === id) ?? null;
}
