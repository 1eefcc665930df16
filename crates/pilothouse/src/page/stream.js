// Talks to the server: JSON calls, and event streams read by fetch so that they can carry a token.

export class Refused extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

export async function call(method, path, body) {
  const response = await send(method, path, body);
  return response.status === 204 ? null : response.json();
}

// Gives each chunk to `onChunk` until the turn ends. Comes back by itself, from the last event it has,
// when the connection breaks. Resolves when the turn has ended, or at once when there is none.
export async function follow(session, open, onChunk, signal) {
  let response = await open();
  let last = null;
  let tries = 0;
  for (;;) {
    if (response?.status === 204) return;
    const turn = response?.headers.get("x-turn-id");
    if (response && (await read(response, (id, chunk) => { last = id ?? last; tries = 0; onChunk(chunk); }))) return;
    if (signal.aborted) return;
    response = null;
    while (!response) {
      if (++tries > 12) throw new Refused(0, "The server does not answer any more.");
      onChunk({ type: "data-status", data: { message: "The connection is lost, trying again…" } });
      await pause(Math.min(250 * 2 ** tries, 5000));
      if (signal.aborted) return;
      const path = turn && last ? `/chat/tasks/${turn}/stream` : `/chat/sessions/${session}/stream`;
      response = await send("GET", path, undefined, last ? { "last-event-id": last } : {}, signal).catch((error) => {
        if (error instanceof Refused && error.status && error.status !== 503) throw error;
        return null;
      });
    }
  }
}

export function post(path, body, signal) {
  return send("POST", path, body, {}, signal);
}

export function get(path, signal) {
  return send("GET", path, undefined, {}, signal);
}

async function send(method, path, body, headers = {}, signal) {
  const token = sessionStorage.getItem("token");
  const response = await fetch(`/api${path}`, {
    method,
    signal,
    body: body === undefined ? undefined : JSON.stringify(body),
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...headers,
    },
  });
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  const detail = typeof problem.detail === "string" ? problem.detail : problem.detail?.message;
  throw new Refused(response.status, detail ?? `The server answered ${response.status}.`);
}

// True when the stream said it is done; false when it broke off.
async function read(response, onEvent) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return false;
      buffer += value;
      let end;
      while ((end = buffer.indexOf("\n\n")) >= 0) {
        const event = parse(buffer.slice(0, end));
        buffer = buffer.slice(end + 2);
        if (event.data === "[DONE]") return true;
        if (event.data) onEvent(event.id, JSON.parse(event.data));
      }
    }
  } catch {
    return false;
  }
}

function parse(text) {
  const event = {};
  for (const line of text.split("\n")) {
    const at = line.indexOf(": ");
    if (at > 0) event[line.slice(0, at)] = line.slice(at + 2);
  }
  return event;
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
