// The credential of this tab: none on an open server, otherwise a token or an API key.

import { useSyncExternalStore } from 'react';

const KEY = 'pilothouse.credential';

export type Credential = { kind: 'token' | 'api_key'; value: string };

type Identity = {
  credential: Credential | null;
  /** The server has refused the last request because it had no valid credential. */
  wanted: boolean;
};

let state: Identity = { credential: stored(), wanted: false };
const listeners = new Set<() => void>();

export function credential(): Credential | null {
  return state.credential;
}

/** The authentication headers. */
export function identityHeaders(credential = state.credential): Record<string, string> {
  if (!credential) return {};
  return credential.kind === 'token'
    ? { authorization: `Bearer ${credential.value}` }
    : { 'x-api-key': credential.value };
}

/** Keeps the credential for this tab only: another tab asks again, and closing this one discards it. */
export function signIn(credential: Credential): void {
  sessionStorage.setItem(KEY, JSON.stringify(credential));
  set({ credential, wanted: false });
}

export function signOut(): void {
  sessionStorage.removeItem(KEY);
  set({ credential: null, wanted: false });
}

export function requireSignIn(): void {
  if (!state.wanted) set({ ...state, wanted: true });
}

export function useIdentity(): Identity {
  return useSyncExternalStore(subscribe, () => state);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function set(next: Identity): void {
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
