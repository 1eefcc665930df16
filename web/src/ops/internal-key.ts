// The key of those who run the server. It is kept in memory only: a reload forgets it.

import { useSyncExternalStore } from 'react';

let key: string | null = null;
const listeners = new Set<() => void>();

export function useInternalKey(): string | null {
  return useSyncExternalStore(subscribe, () => key);
}

export function setInternalKey(given: string | null): void {
  key = given;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
