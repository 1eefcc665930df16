// Typed requests to the server. Every request either returns its data or throws an `ApiError`.

import createClient from 'openapi-fetch';
import type { paths } from '@/protocol';
import { apiUrl } from './base';
import { identityHeaders, requireSignIn } from './identity';
import { ApiError, OFFLINE, problemOf } from './problem';

/** `fetch` with credentials. Error responses and lost connections are thrown as `ApiError`. */
export async function request(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const sent = new Request(input, init);
  for (const [name, value] of Object.entries(identityHeaders())) sent.headers.set(name, value);
  return sendRequest(sent).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 401) requireSignIn();
    throw error;
  });
}

/** Sends a request without adding credentials, for callers that set their own. */
export async function sendRequest(sent: Request): Promise<Response> {
  const response = await fetch(sent).catch((error: unknown) => {
    if (sent.signal.aborted) throw error;
    throw new ApiError(0, 'UNREACHABLE', OFFLINE);
  });
  if (response.ok) return response;
  const body: unknown = await response.json().catch(() => undefined);
  throw problemOf(response.status, body, response.headers);
}

const client = createClient<paths>({
  baseUrl: new URL(apiUrl(''), location.href).href.replace(/\/$/, ''),
  fetch: request,
});

type ApiResponse<T> = { data?: T; error?: unknown; response: Response };

/** The data of a response: `await dataOf(api.GET('/api/chat/sessions'))`. */
export async function dataOf<T>(response: Promise<ApiResponse<T>>): Promise<T> {
  return (await response.catch(asApiError)).data as T;
}

/** A response that is cut off in the middle of its body counts as a lost connection. */
function asApiError(error: unknown): never {
  const isExpected =
    error instanceof ApiError || (error instanceof DOMException && error.name === 'AbortError');
  throw isExpected ? error : new ApiError(0, 'UNREACHABLE', OFFLINE);
}

export const api = client;
