import { useReactFlow } from '@xyflow/react';
import type { KeyboardEvent } from 'react';

const STEP = 60;
/** Viewport offset by key: the content moves opposite to the key. */
const MOVES = new Map([
  ['ArrowLeft', { x: STEP, y: 0 }],
  ['ArrowRight', { x: -STEP, y: 0 }],
  ['ArrowUp', { x: 0, y: STEP }],
  ['ArrowDown', { x: 0, y: -STEP }],
]);

/** Pans the graph view with the arrow keys while the view itself has the focus. */
export function useArrowKeys() {
  const flow = useReactFlow();
  return (event: KeyboardEvent<HTMLDivElement>) => {
    const move = MOVES.get(event.key);
    if (!move || event.target !== event.currentTarget) return;
    // Browser shortcuts, such as back or end of page.
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const { x, y, zoom } = flow.getViewport();
    void flow.setViewport({ x: x + move.x, y: y + move.y, zoom });
  };
}
