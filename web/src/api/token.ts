// Reads the claims of a token for display. Only the server verifies them.

import { asRecord } from '@/lib/json';

export type TokenFacts = { subject: string | null; name: string | null; expires: string | null };

export function readToken(token: string): TokenFacts {
  const claims = claimsOf(token);
  return {
    subject: text(claims.sub),
    name: text(claims.email) ?? text(claims.name) ?? text(claims.preferred_username),
    expires: typeof claims.exp === 'number' ? new Date(claims.exp * 1000).toISOString() : null,
  };
}

function claimsOf(token: string): Record<string, unknown> {
  try {
    const body = (token.split('.')[1] ?? '').replace(/-/g, '+').replace(/_/g, '/');
    const bytes = Uint8Array.from(atob(body), (char) => char.charCodeAt(0));
    return asRecord(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    return {};
  }
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
