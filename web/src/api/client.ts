// Typed calls to the server. Every call either gives its data or throws an `ApiError`.

import createClient from 'openapi-fetch';
import type { paths } from '@/protocol';
import { addressOf } from './base';
import { credentialWanted, identityHeaders } from './identity';
import { ApiError, OFFLINE, problemOf } from './problem';

/** `fetch` with our identity. Refusals and lost connections are thrown as `ApiError`. */
export async function request(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const sent = new Request(input, init);
  for (const [name, value] of Object.entries(identityHeaders())) sent.headers.set(name, value);
  return answerTo(sent).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 401) credentialWanted();
    throw error;
  });
}

/** The answer to a request as it is, for those who say themselves who they are. */
export async function answerTo(sent: Request): Promise<Response> {
  const response = await fetch(sent).catch((error: unknown) => {
    if (sent.signal.aborted) throw error;
    throw new ApiError(0, 'UNREACHABLE', OFFLINE);
  });
  if (response.ok) return response;
  const body: unknown = await response.json().catch(() => undefined);
  throw problemOf(response.status, body, response.headers);
}

const client = createClient<paths>({
  baseUrl: new URL(addressOf(''), location.href).href.replace(/\/$/, ''),
  fetch: request,
});

type Answer<T> = { data?: T; error?: unknown; response: Response };

/** The data of an answer: `await dataOf(api.GET('/api/chat/sessions'))`. */
export async function dataOf<T>(answer: Promise<Answer<T>>): Promise<T> {
  return (await answer.catch(asApiError)).data as T;
}

/** An answer that breaks off in the middle of its body is a lost connection like any other. */
function asApiError(error: unknown): never {
  const isOurs = error instanceof ApiError || (error instanceof DOMException && error.name === 'AbortError');
  throw isOurs ? error : new ApiError(0, 'UNREACHABLE', OFFLINE);
}

export const api = client;
