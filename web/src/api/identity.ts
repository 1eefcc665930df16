// The credential of this tab: none on an open server, otherwise a token or an API key.

import { Store, useStore } from '@/lib/store';

const KEY = 'pilothouse.credential';

export type Credential = { kind: 'token' | 'api_key'; value: string };

type Identity = {
  credential: Credential | null;
  /** The server has refused the last request because it had no valid credential. */
  wanted: boolean;
};

const identity = new Store<Identity>({ credential: stored(), wanted: false });

export function credential(): Credential | null {
  return identity.get().credential;
}

/** The authentication headers. */
export function identityHeaders(credential = identity.get().credential): Record<string, string> {
  if (!credential) return {};
  return credential.kind === 'token'
    ? { authorization: `Bearer ${credential.value}` }
    : { 'x-api-key': credential.value };
}

/** Keeps the credential for this tab only: another tab asks again, and closing this one discards it. */
export function signIn(credential: Credential): void {
  sessionStorage.setItem(KEY, JSON.stringify(credential));
  identity.set({ credential, wanted: false });
}

export function signOut(): void {
  sessionStorage.removeItem(KEY);
  identity.set({ credential: null, wanted: false });
}

export function requireSignIn(): void {
  identity.patch({ wanted: true });
}

export function useIdentity(): Identity {
  return useStore(identity);
}

function stored(): Credential | null {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? 'null');
  } catch {
    return null;
  }
}
