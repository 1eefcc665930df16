// State outside of React that components can follow.

import { useSyncExternalStore } from 'react';

/** A value with change listeners. Values are replaced, never changed in place. */
export class Store<T> {
  private readonly listeners = new Set<() => void>();

  constructor(private value: T) {}

  readonly get = (): T => this.value;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  set(value: T): void {
    if (Object.is(this.value, value)) return;
    this.value = value;
    for (const listener of this.listeners) listener();
  }

  /** Replaces some fields of an object. */
  patch(change: Partial<T>): void {
    const keys = Object.keys(change) as (keyof T)[];
    if (keys.every((key) => Object.is(this.value[key], change[key]))) return;
    this.set({ ...this.value, ...change });
  }
}

/** The current value; the component is rendered again when it changes. */
export function useStore<T>(store: Store<T>): T {
  return useSyncExternalStore(store.subscribe, store.get);
}
