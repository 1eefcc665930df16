// The operator's internal API key. It is kept in memory only, so a reload clears it.

import { Store, useStore } from '@/lib/store';

const key = new Store<string | null>(null);

export function useInternalKey(): string | null {
  return useStore(key);
}

export function setInternalKey(value: string | null): void {
  key.set(value);
}
