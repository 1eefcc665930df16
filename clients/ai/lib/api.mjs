// The plain requests that a chat page makes besides those of the SDK's transport.

import assert from 'node:assert/strict';

const base = process.env.PILOTHOUSE_URL;
assert.ok(base, 'PILOTHOUSE_URL must name a running server; `npm test` starts one');

/** Time limit of a request of these tests. */
const PATIENCE_MS = 20_000;

export function streamUrl(session) {
  return `${base}/api/chat/sessions/${session}/stream`;
}

export async function createSession() {
  const { id } = await json('POST', '/api/chat/sessions', {});
  return id;
}

export function readSession(session) {
  return json('GET', `/api/chat/sessions/${session}?limit=200`);
}

export function cancel(session) {
  return json('POST', `/api/chat/sessions/${session}/cancel`, {});
}

/** The follow-ups of a session with their states. */
export function followUps(session) {
  return json('GET', `/api/chat/sessions/${session}/messages/pending`);
}

/** The session, once none of its turns runs. */
export async function settledSession(session) {
  const deadline = Date.now() + PATIENCE_MS;
  while (Date.now() < deadline) {
    const read = await readSession(session);
    if (!read.active_stream) return read;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`session ${session} is still at work after ${PATIENCE_MS} ms`);
}

/** The raw events of a resumed stream, or null when there is nothing to resume. */
export async function resumeRaw(session, headers = {}) {
  const response = await fetch(streamUrl(session), { headers, signal: patience() });
  if (response.status === 204) return null;
  assert.equal(response.status, 200);
  return response.text();
}

async function json(method, path, body) {
  const response = await fetch(base + path, {
    method,
    headers: body ? { 'content-type': 'application/json' } : {},
    body: body && JSON.stringify(body),
    signal: patience(),
  });
  const text = await response.text();
  assert.ok(response.ok, `${method} ${path} answered ${response.status}: ${text}`);
  return JSON.parse(text);
}

function patience() {
  return AbortSignal.timeout(PATIENCE_MS);
}
