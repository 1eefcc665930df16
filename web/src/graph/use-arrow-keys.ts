import { useReactFlow } from '@xyflow/react';
import type { KeyboardEvent } from 'react';

const STEP = 60;
/** Where the picture goes so that one looks further in the direction of the key. */
const MOVES = new Map([
  ['ArrowLeft', { x: STEP, y: 0 }],
  ['ArrowRight', { x: -STEP, y: 0 }],
  ['ArrowUp', { x: 0, y: STEP }],
  ['ArrowDown', { x: 0, y: -STEP }],
]);

/** Moves the picture of a graph while it has the focus itself. */
export function useArrowKeys() {
  const flow = useReactFlow();
  return (event: KeyboardEvent<HTMLDivElement>) => {
    const move = MOVES.get(event.key);
    if (!move || event.target !== event.currentTarget) return;
    // With these the browser goes back, or to the end of the page.
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const { x, y, zoom } = flow.getViewport();
    void flow.setViewport({ x: x + move.x, y: y + move.y, zoom });
  };
}
