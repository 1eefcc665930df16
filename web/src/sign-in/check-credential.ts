// Checks with the server whether a credential is valid, before the page uses it.

import { apiUrl } from '@/api/base';
import { sendRequest } from '@/api/client';
import { type Credential, identityHeaders } from '@/api/identity';
import { ApiError } from '@/api/problem';

/** Tokens have three parts separated by dots; keys have no dots. */
export function credentialOf(text: string): Credential {
  const value = text.trim().replace(/^bearer\s+/i, '');
  const isToken = /^[\w-]+\.[\w-]+\.[\w-]*$/.test(value);
  return { kind: isToken ? 'token' : 'api_key', value };
}

/** Throws if the server doesn't accept it. */
export async function checkCredential(credential: Credential): Promise<void> {
  // Headers allow no other characters, and `fetch` would fail as if the server were unreachable.
  if (!/^[\x21-\x7e]+$/.test(credential.value)) {
    throw new ApiError(
      401,
      'MALFORMED',
      'This contains characters that tokens and keys never have. Copy it again.',
    );
  }
  const address = new URL(apiUrl('/api/chat/sessions?limit=1'), location.href);
  await sendRequest(new Request(address, { headers: identityHeaders(credential) }));
}

/** The reason, and what to do about it. */
export function signInErrorMessage(error: unknown, { kind }: Credential): string {
  if (!(error instanceof ApiError)) return String(error);
  if (error.isOffline) return `${error.message} Try again later.`;
  if (error.code === 'MALFORMED' || error.status !== 401) return error.message;
  return kind === 'token'
    ? `That token isn't valid; it may have expired. ${error.message}`
    : "That key isn't valid.";
}
