// The benchmark's Node column: `ai` makes the stream, `resumable-stream` makes it resumable, and a plain HTTP
// server sends it. Pub/sub is in memory, which is kinder to it than a Redis on the other end of a socket.

import { createServer } from 'node:http';
import { createUIMessageStream, JsonToSseTransformStream, UI_MESSAGE_STREAM_HEADERS } from 'ai';
import { createResumableStreamContext } from 'resumable-stream/generic';
import { memoryPubSub } from './pubsub.mjs';

const port = Number(process.argv[2]);
const { publisher, subscriber } = memoryPubSub();
const streams = createResumableStreamContext({ waitUntil: null, publisher, subscriber });
/** Session id to the id of its newest stream, or undefined before the first. */
const newest = new Map();
let made = 0;

createServer(async (request, response) => {
  try {
    await route(request, response);
  } catch (error) {
    console.error(error);
    response.destroy();
  }
}).listen(port, '127.0.0.1', 4096);

async function route(request, response) {
  response.socket.setNoDelay(true);
  const [, session] = request.url.match(/^\/api\/chat\/sessions\/([^/]+)\/stream$/) ?? [];
  if (request.method === 'POST' && request.url === '/api/chat/sessions') {
    const id = `s${++made}`;
    newest.set(id, undefined);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ id }));
  } else if (session && request.method === 'POST') {
    const { message } = JSON.parse(await text(request));
    const stream = `m${++made}`;
    newest.set(session, stream);
    await send(response, await streams.createNewResumableStream(stream, () => turn(stream, message)));
  } else if (session && request.method === 'GET') {
    const running = newest.get(session) && (await streams.resumeExistingStream(newest.get(session)));
    if (running) await send(response, running);
    else response.writeHead(204).end();
  } else {
    response.writeHead(404).end();
  }
}

/** The same events as the other servers send, made the way the SDK makes them. */
function turn(messageId, command) {
  const { count, size, delay } = parse(command);
  const delta = 'x'.repeat(size);
  return createUIMessageStream({
    async execute({ writer }) {
      writer.write({ type: 'start', messageId });
      writer.write({ type: 'start-step' });
      writer.write({ type: 'text-start', id: 't1' });
      for (let i = 0; i < count; i++) {
        if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
        writer.write({ type: 'text-delta', id: 't1', delta });
      }
      writer.write({ type: 'text-end', id: 't1' });
      writer.write({ type: 'finish-step' });
      writer.write({ type: 'finish' });
    },
  }).pipeThrough(new JsonToSseTransformStream());
}

function parse(command) {
  const [, count, size, delay] = command.match(/^\/stream count=(\d+) size=(\d+) delay_ms=(\d+)$/);
  return { count: Number(count), size: Number(size), delay: Number(delay) };
}

async function send(response, stream) {
  response.writeHead(200, UI_MESSAGE_STREAM_HEADERS);
  for await (const piece of stream) {
    if (response.destroyed) return;
    if (!response.write(piece)) await drained(response);
  }
  response.end();
}

/** Until the socket takes more, or is gone. */
function drained(response) {
  return new Promise((resolve) => {
    response.once('drain', resolve);
    response.once('close', resolve);
  });
}

async function text(request) {
  let body = '';
  for await (const piece of request) body += piece;
  return body;
}
