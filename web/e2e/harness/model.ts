// A scripted model server: it responds in OpenAI's wire format, in the chunks and at the time the test wants.

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server as HttpServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Settings } from './server';

const NAME = 'played';
/** The model for titles. Title requests are made next to the turns, and aren't scripted. */
const TITLES = 'titles';

export type Part = (reply: Reply) => void | Promise<void>;

export class Model {
  private readonly parts: Part[] = [];

  private constructor(private readonly door: HttpServer) {
    door.on('request', async (request, response) => {
      let body = '';
      for await (const piece of request) body += piece;
      const { model, stream } = JSON.parse(body);
      const reply = new Reply(response, stream === true);
      if (model === TITLES) reply.say('A voyage');
      else await (this.parts.shift() ?? unplanned)(reply);
      reply.end();
    });
  }

  static async start(): Promise<Model> {
    const door = createServer().listen(0, '127.0.0.1');
    await once(door, 'listening');
    return new Model(door);
  }

  /** For the server that uses this model. */
  get settings(): Settings {
    const { port } = this.door.address() as AddressInfo;
    return {
      CHAT_PROVIDER: 'openai',
      CHAT_BASE_URL: `http://127.0.0.1:${port}/v1`,
      CHAT_API_KEY: 'a key',
      CHAT_MODEL: NAME,
      CHAT_TITLE_MODEL: TITLES,
    };
  }

  /** Adds the responses to the next requests, in order. */
  play(...parts: Part[]): void {
    this.parts.push(...parts);
  }

  close(): void {
    this.door.closeAllConnections();
    this.door.close();
  }
}

/** One response of the model. */
export class Reply {
  private text = '';
  private calls = 0;

  constructor(
    private readonly response: ServerResponse,
    private readonly streams: boolean,
  ) {}

  say(text: string): void {
    this.text += text;
    if (this.streams) this.chunk({ content: text }, null);
  }

  /** Several calls in one response are parallel calls. */
  call(name: string, args: object): void {
    const index = this.calls++;
    const made = { name, arguments: JSON.stringify(args) };
    this.chunk(
      { tool_calls: [{ index, id: `call_${randomUUID()}`, type: 'function', function: made }] },
      null,
    );
  }

  /** Responds with an error status. */
  fail(status: number, message: string): void {
    this.response.writeHead(status, { 'content-type': 'application/json' });
    this.response.end(JSON.stringify({ error: { type: 'error', message } }));
  }

  /** Ends a response with an error that isn't retried. */
  breakOff(message: string): void {
    const error = { type: 'invalid_request_error', code: 400, message };
    this.response.end(`data: ${JSON.stringify({ error })}\n\n`);
  }

  end(): void {
    if (this.response.writableEnded || this.response.destroyed) return;
    if (this.streams) {
      this.chunk({}, this.calls > 0 ? 'tool_calls' : 'stop');
      this.response.end('data: [DONE]\n\n');
      return;
    }
    const message = { role: 'assistant', content: this.text };
    this.response.setHeader('content-type', 'application/json');
    this.response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] }));
  }

  private chunk(delta: object, finish_reason: string | null): void {
    // The client may have disconnected.
    if (this.response.destroyed) return;
    if (!this.response.headersSent) this.response.writeHead(200, { 'content-type': 'text/event-stream' });
    const usage = finish_reason ? { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } : undefined;
    const chunk = { object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }], usage };
    this.response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  }
}

function unplanned(reply: Reply): void {
  reply.fail(400, 'Nobody has planned this request.');
}

/** A point at which a script waits until the test continues it. */
export class Gate {
  private let: () => void = () => {};
  private tell: () => void = () => {};
  private readonly opened = new Promise<void>((resolve) => {
    this.let = resolve;
  });
  private readonly arrived = new Promise<void>((resolve) => {
    this.tell = resolve;
  });

  /** Waits until the test opens the gate. */
  pass(): Promise<void> {
    this.tell();
    return this.opened;
  }

  /** Waits until a script has reached the gate. */
  reached(): Promise<void> {
    return this.arrived;
  }

  open(): void {
    this.let();
  }
}
