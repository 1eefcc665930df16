// Requests that bypass the browser, for preparing and checking data.

import type { Server } from './server';

/** A request that must succeed: a POST if it has a body. */
export async function ask(server: Server, path: string, body?: unknown): Promise<Response> {
  const answer = await fetch(`${server.url}/api${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer;
}

export async function call<T>(server: Server, path: string, body?: unknown): Promise<T> {
  return (await ask(server, path, body)).json() as Promise<T>;
}
