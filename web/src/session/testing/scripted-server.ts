// A fake session server for tests: the test sets its history and writes every chunk of its streams.

import { vi } from 'vitest';
import type { FollowUpView, MessageView, SessionDetail } from '@/protocol';
import { refusal } from '@/testing/fake-server';

export const SESSION = 'session-1';

/** One open event stream. */
export class ServerStream {
  private controller!: ReadableStreamDefaultController<Uint8Array>;
  readonly body: ReadableStream<Uint8Array>;
  closedByClient = false;

  constructor() {
    this.body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.controller = controller;
      },
      cancel: () => {
        this.closedByClient = true;
      },
    });
  }

  send(...chunks: object[]): this {
    for (const chunk of chunks) this.write(`data: ${JSON.stringify(chunk)}\n\n`);
    return this;
  }

  /** Breaks the connection. */
  disconnect(): void {
    this.controller.error(new TypeError('network error'));
  }

  /** Closes the body without an error, even if the stream isn't complete. */
  close(): void {
    this.controller.close();
  }

  /** Ends the stream as a finished turn does. */
  finish(): void {
    this.send({ type: 'finish', finishReason: 'stop' });
    this.write('data: [DONE]\n\n');
    this.close();
  }

  private write(text: string): void {
    this.controller.enqueue(new TextEncoder().encode(text));
  }
}

type Handler = (body: Record<string, unknown>) => Response | Promise<Response>;

export class ScriptedServer {
  rows: MessageView[] = [];
  /** The running turn. */
  running: string | null = null;
  followUps: FollowUpView[] = [];
  hasMore = false;
  /** Every request, for example `POST /stream`. */
  readonly requests: string[] = [];
  readonly bodies: Record<string, unknown>[] = [];
  readonly streams: ServerStream[] = [];
  /** Requests fail as if the server were unreachable. */
  unreachable = false;
  private readonly handlers = new Map<string, Handler>();

  constructor() {
    vi.stubGlobal('fetch', (request: Request) => this.respond(request));
  }

  /** Overrides the response of a route, for example `POST /stream`. */
  on(route: string, handler: Handler): void {
    this.handlers.set(route, handler);
  }

  off(route: string): void {
    this.handlers.delete(route);
  }

  count(route: string): number {
    return this.requests.filter((one) => one === route).length;
  }

  /** Waits until the stream with this number (from 1) has been opened. */
  async stream(number: number): Promise<ServerStream> {
    await vi.waitFor(() => {
      if (this.streams.length < number) throw new Error(`only ${this.streams.length} streams were opened`);
    }, 3_000);
    return this.streams[number - 1] as ServerStream;
  }

  private async respond(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const route = `${request.method} ${url.pathname.replace(/^\/api\/chat\/sessions(\/session-1)?/, '')}`;
    this.requests.push(route);
    if (this.unreachable) throw new TypeError('Failed to fetch');
    const text = await request.text();
    const body = text ? JSON.parse(text) : {};
    if (request.method === 'POST') this.bodies.push(body);
    const handler = this.handlers.get(route);
    if (handler) return Promise.race([handler(body), aborted(request.signal)]);
    switch (route) {
      case 'POST ':
        return Response.json({ id: SESSION, created_at: NOW, metadata: {} });
      case 'GET ':
        return Response.json(this.detail(Number(url.searchParams.get('before_sequence') ?? 0)));
      case 'GET /messages/pending':
        return Response.json({ messages: [], count: 0, follow_ups: this.followUps });
      case 'POST /messages/pending':
        return Response.json({ buffer_length: 1 });
      case 'POST /cancel':
        this.running = null;
        return Response.json({ cancelled: true });
      case 'GET /stream':
        return this.running ? this.open(request) : new Response(null, { status: 204 });
      case 'POST /stream':
        return this.open(request);
      default:
        return refusal(404, 'ROUTE_NOT_FOUND', route);
    }
  }

  private open(request: Request): Response {
    const stream = new ServerStream();
    this.streams.push(stream);
    request.signal.addEventListener('abort', () => {
      stream.closedByClient = true;
    });
    return new Response(stream.body, { headers: { 'content-type': 'text/event-stream' } });
  }

  private detail(before: number): SessionDetail {
    const messages = before ? this.rows.filter((row) => row.sequence < before) : this.rows;
    return {
      id: SESSION,
      title: 'Tides',
      created_at: NOW,
      updated_at: String(this.rows.length),
      chat_status: this.running ? 'running' : 'idle',
      is_pinned: false,
      dry_run: false,
      metadata: {},
      messages,
      has_more_messages: !before && this.hasMore,
      oldest_sequence: messages[0]?.sequence ?? null,
      total_prompt_tokens: 0,
      total_completion_tokens: 0,
      total_cost_microdollars: 0,
      active_stream: this.running
        ? { turn_id: this.running, task_id: this.running, last_message_id: '0-0', started_at: NOW }
        : null,
    };
  }
}

/** Rejects when the request is aborted. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}

const NOW = '2026-11-16T12:00:00Z';

/** A history row with defaults. */
export function row(
  sequence: number,
  role: MessageView['role'],
  rest: Partial<MessageView> = {},
): MessageView {
  return {
    id: `row-${sequence}`,
    session_id: SESSION,
    turn_id: 'turn-1',
    sequence,
    created_at: NOW,
    role,
    content: '',
    ...rest,
  };
}

/** The first chunks of a turn's stream, up to an open text part. */
export function streamStart(turn: string): object[] {
  return [{ type: 'start', messageId: turn }, { type: 'start-step' }, { type: 'text-start', id: 't' }];
}

export const textDelta = (delta: string): object => ({ type: 'text-delta', id: 't', delta });
export const STREAM_END = [{ type: 'text-end', id: 't' }, { type: 'finish-step' }];
