// A scripted model server: it responds in OpenAI's wire format, in the chunks and at the time the test wants.

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server as HttpServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Settings } from './server';

const NAME = 'scripted';
/** The model for titles. Title requests are made next to the turns, and aren't scripted. */
const TITLE_MODEL = 'titles';

export type ModelScript = (reply: ModelReply) => void | Promise<void>;

export class ScriptedModel {
  private readonly scripts: ModelScript[] = [];

  private constructor(private readonly server: HttpServer) {
    server.on('request', async (request, response) => {
      let body = '';
      for await (const piece of request) body += piece;
      const { model, stream } = JSON.parse(body);
      const reply = new ModelReply(response, stream === true);
      if (model === TITLE_MODEL) reply.sendText('A voyage');
      else await (this.scripts.shift() ?? unexpectedRequest)(reply);
      reply.end();
    });
  }

  static async start(): Promise<ScriptedModel> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new ScriptedModel(server);
  }

  /** For the server that uses this model. */
  get settings(): Settings {
    const { port } = this.server.address() as AddressInfo;
    return {
      CHAT_PROVIDER: 'openai',
      CHAT_BASE_URL: `http://127.0.0.1:${port}/v1`,
      CHAT_API_KEY: 'a key',
      CHAT_MODEL: NAME,
      CHAT_TITLE_MODEL: TITLE_MODEL,
    };
  }

  /** Adds the responses to the next requests, in order. */
  respondWith(...scripts: ModelScript[]): void {
    this.scripts.push(...scripts);
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

/** One response of the model. */
export class ModelReply {
  private text = '';
  private calls = 0;

  constructor(
    private readonly response: ServerResponse,
    private readonly isStreaming: boolean,
  ) {}

  sendText(text: string): void {
    this.text += text;
    if (this.isStreaming) this.chunk({ content: text }, null);
  }

  /** Several calls in one response are parallel calls. */
  callTool(name: string, args: object): void {
    const index = this.calls++;
    const call = { name, arguments: JSON.stringify(args) };
    this.chunk(
      { tool_calls: [{ index, id: `call_${randomUUID()}`, type: 'function', function: call }] },
      null,
    );
  }

  /** Responds with an error status. */
  fail(status: number, message: string): void {
    this.response.writeHead(status, { 'content-type': 'application/json' });
    this.response.end(JSON.stringify({ error: { type: 'error', message } }));
  }

  /** Ends a response with an error that isn't retried. */
  endWithError(message: string): void {
    const error = { type: 'invalid_request_error', code: 400, message };
    this.response.end(`data: ${JSON.stringify({ error })}\n\n`);
  }

  end(): void {
    if (this.response.writableEnded || this.response.destroyed) return;
    if (this.isStreaming) {
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

function unexpectedRequest(reply: ModelReply): void {
  reply.fail(400, 'No script for this request.');
}

/** A point at which a script waits until the test continues it. */
export class Gate {
  private resolveOpened: () => void = () => {};
  private resolveReached: () => void = () => {};
  private readonly opened = new Promise<void>((resolve) => {
    this.resolveOpened = resolve;
  });
  private readonly reachedOnce = new Promise<void>((resolve) => {
    this.resolveReached = resolve;
  });

  /** Waits until the test opens the gate. */
  wait(): Promise<void> {
    this.resolveReached();
    return this.opened;
  }

  /** Waits until a script has reached the gate. */
  reached(): Promise<void> {
    return this.reachedOnce;
  }

  open(): void {
    this.resolveOpened();
  }
}
