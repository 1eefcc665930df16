// Who the page speaks for: nothing on an open server, a token or an API key on others.

import { useSyncExternalStore } from 'react';

const KEY = 'pilothouse.credential';

export type Credential = { kind: 'token' | 'api_key'; value: string };

type State = {
  credential: Credential | null;
  /** The server has refused the last request for want of a credential. */
  wanted: boolean;
};

let state: State = { credential: stored(), wanted: false };
const listeners = new Set<() => void>();

export function credential(): Credential | null {
  return state.credential;
}

/** Headers that say who asks. */
export function identityHeaders(credential = state.credential): Record<string, string> {
  if (!credential) return {};
  return credential.kind === 'token'
    ? { authorization: `Bearer ${credential.value}` }
    : { 'x-api-key': credential.value };
}

/** Keeps it for this tab only: another tab asks again, and closing this one forgets it. */
export function signIn(credential: Credential): void {
  sessionStorage.setItem(KEY, JSON.stringify(credential));
  set({ credential, wanted: false });
}

export function signOut(): void {
  sessionStorage.removeItem(KEY);
  set({ credential: null, wanted: false });
}

export function credentialWanted(): void {
  if (!state.wanted) set({ ...state, wanted: true });
}

export function useIdentity(): State {
  return useSyncExternalStore(subscribe, () => state);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function set(next: State): void {
  state = next;
  for (const listener of listeners) listener();
}

function stored(): Credential | null {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? 'null');
  } catch {
    return null;
  }
}
