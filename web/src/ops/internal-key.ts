// The operator's internal API key. It is kept in memory only, so a reload clears it.

import { useSyncExternalStore } from 'react';

let key: string | null = null;
const listeners = new Set<() => void>();

export function useInternalKey(): string | null {
  return useSyncExternalStore(subscribe, () => key);
}

export function setInternalKey(value: string | null): void {
  key = value;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
