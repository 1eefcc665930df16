// Requests that bypass the browser, for preparing and checking data.

import type { Server } from './server';

/** A request that must succeed: a POST if it has a body. */
export async function request(server: Server, path: string, body?: unknown): Promise<Response> {
  const response = await fetch(`${server.url}/api${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response;
}

export async function requestJson<T>(server: Server, path: string, body?: unknown): Promise<T> {
  return (await request(server, path, body)).json() as Promise<T>;
}
