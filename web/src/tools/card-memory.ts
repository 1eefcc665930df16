// What a person has done with a card, kept while the page is open: a card that scrolls out of a long conversation and
// back is built anew and must not have forgotten half an answer.

import { useCallback, useState } from 'react';

const LIMIT = 500;
const memory = new Map<string, unknown>();

/** As `useState`, but kept under a name that must be the card's own. */
export function useRemembered<T>(name: string, initial: T): [T, (value: T) => void] {
  const [value, setValue] = useState<T>(() => (memory.has(name) ? (memory.get(name) as T) : initial));
  const set = useCallback(
    (next: T) => {
      remember(name, next);
      setValue(next);
    },
    [name],
  );
  return [value, set];
}

/** For a card that is not built yet: it will find this. */
export function remember(name: string, value: unknown): void {
  memory.delete(name);
  memory.set(name, value);
  const oldest = memory.keys().next();
  if (memory.size > LIMIT && !oldest.done) memory.delete(oldest.value);
}

export function forgetCards(): void {
  memory.clear();
}
