// State of cards (typed answers, open or closed), kept in memory while the page is open: a card that scrolls out of a
// long chat is unmounted, and must not lose a half-typed answer.

import { useCallback, useState } from 'react';

const LIMIT = 500;
const states = new Map<string, unknown>();

/** Like `useState`, but survives unmounting. `name` must be unique to the card. */
export function useCardState<T>(name: string, initial: T): [T, (value: T) => void] {
  const [value, setValue] = useState<T>(() => (states.has(name) ? (states.get(name) as T) : initial));
  const set = useCallback(
    (next: T) => {
      setCardState(name, next);
      setValue(next);
    },
    [name],
  );
  return [value, set];
}

/** Sets the state of a card from outside, before it is mounted. */
export function setCardState(name: string, value: unknown): void {
  states.delete(name);
  states.set(name, value);
  const oldest = states.keys().next();
  if (states.size > LIMIT && !oldest.done) states.delete(oldest.value);
}

export function clearCardState(): void {
  states.clear();
}
