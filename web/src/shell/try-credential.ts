// Whether the server takes a credential, before the page speaks with it.

import { addressOf } from '@/api/base';
import { answerTo } from '@/api/client';
import { type Credential, identityHeaders } from '@/api/identity';
import { ApiError } from '@/api/problem';

/** Tokens have three parts between dots; keys have none. */
export function credentialOf(text: string): Credential {
  const value = text.trim().replace(/^bearer\s+/i, '');
  const isToken = /^[\w-]+\.[\w-]+\.[\w-]*$/.test(value);
  return { kind: isToken ? 'token' : 'api_key', value };
}

/** Throws what is wrong with it. */
export async function tryCredential(credential: Credential): Promise<void> {
  // A header takes no others, and `fetch` would fail as if the server were away.
  if (!/^[\x21-\x7e]+$/.test(credential.value)) {
    throw new ApiError(
      401,
      'MALFORMED',
      'This has characters that no token and no key has. Copy it once more.',
    );
  }
  const address = new URL(addressOf('/api/chat/sessions?limit=1'), location.href);
  await answerTo(new Request(address, { headers: identityHeaders(credential) }));
}

/** What is wrong, and what to do about it. */
export function wordsForRefused(error: unknown, { kind }: Credential): string {
  if (!(error instanceof ApiError)) return String(error);
  if (error.isOffline) return `${error.message} Try again when it is back.`;
  if (error.code === 'MALFORMED' || error.status !== 401) return error.message;
  return kind === 'token'
    ? `The server does not accept this token; it may have expired. ${error.message}`
    : `The server does not know this key. ${error.message}`;
}
