// The state of a session apart from its messages, as one immutable value.

import type { FollowUpChip, Phase, SessionHandle } from './types';

export type SessionState = {
  id: string | null;
  title: string | null;
  parentId: string | null;
  phase: Phase;
  slow: boolean;
  status: string | null;
  busySince: number | null;
  loadError: unknown;
  error: SessionHandle['error'];
  followUps: FollowUpChip[];
  hasOlder: boolean;
  loadingOlder: boolean;
};

export function newState(id: string | null): SessionState {
  return {
    id,
    title: null,
    parentId: null,
    phase: id ? 'loading' : 'ready',
    slow: false,
    status: null,
    busySince: null,
    loadError: null,
    error: null,
    followUps: [],
    hasOlder: false,
    loadingOlder: false,
  };
}

export function isBusy(phase: Phase): boolean {
  return phase !== 'ready' && phase !== 'loading';
}

/** A value with change listeners. */
export class StateStore<T> {
  private readonly listeners = new Set<() => void>();

  constructor(private value: T) {}

  readonly get = (): T => this.value;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  patch(change: Partial<T>): void {
    const keys = Object.keys(change) as (keyof T)[];
    if (keys.every((key) => Object.is(this.value[key], change[key]))) return;
    this.value = { ...this.value, ...change };
    for (const listener of this.listeners) listener();
  }
}
