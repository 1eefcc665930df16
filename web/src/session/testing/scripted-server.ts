// A server for tests of a conversation: its history is set by the test, and so is every word of its streams.

import { vi } from 'vitest';
import type { FollowUpView, MessageView, SessionDetail } from '@/protocol';
import { refusal } from '@/testing/fake-server';

export const SESSION = 'session-1';

/** One open stream. */
export class Line {
  private controller!: ReadableStreamDefaultController<Uint8Array>;
  readonly body: ReadableStream<Uint8Array>;
  closedByReader = false;

  constructor() {
    this.body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.controller = controller;
      },
      cancel: () => {
        this.closedByReader = true;
      },
    });
  }

  say(...chunks: object[]): this {
    for (const chunk of chunks) this.write(`data: ${JSON.stringify(chunk)}\n\n`);
    return this;
  }

  /** The connection breaks. */
  cut(): void {
    this.controller.error(new TypeError('network error'));
  }

  /** The body ends in good order, whatever was said in it. */
  close(): void {
    this.controller.close();
  }

  /** A whole end. */
  finish(): void {
    this.say({ type: 'finish', finishReason: 'stop' });
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
  /** The turn that runs. */
  running: string | null = null;
  followUps: FollowUpView[] = [];
  hasMore = false;
  /** Every request, as `POST …/stream`. */
  readonly asked: string[] = [];
  readonly bodies: Record<string, unknown>[] = [];
  readonly lines: Line[] = [];
  /** Nobody answers. */
  away = false;
  private readonly handlers = new Map<string, Handler>();

  constructor() {
    vi.stubGlobal('fetch', (request: Request) => this.answer(request));
  }

  /** Answers a route in its own way, for example `POST /stream`. */
  on(route: string, handler: Handler): void {
    this.handlers.set(route, handler);
  }

  off(route: string): void {
    this.handlers.delete(route);
  }

  count(route: string): number {
    return this.asked.filter((one) => one === route).length;
  }

  /** The newest stream, once there are so many. */
  async line(number: number): Promise<Line> {
    await vi.waitFor(() => {
      if (this.lines.length < number) throw new Error(`only ${this.lines.length} streams were opened`);
    }, 3_000);
    return this.lines[number - 1] as Line;
  }

  private async answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const route = `${request.method} ${url.pathname.replace(/^\/api\/chat\/sessions(\/session-1)?/, '')}`;
    this.asked.push(route);
    if (this.away) throw new TypeError('Failed to fetch');
    const text = await request.text();
    const body = text ? JSON.parse(text) : {};
    if (request.method === 'POST') this.bodies.push(body);
    const handler = this.handlers.get(route);
    if (handler) return Promise.race([handler(body), givenUp(request.signal)]);
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
    const line = new Line();
    this.lines.push(line);
    request.signal.addEventListener('abort', () => {
      line.closedByReader = true;
    });
    return new Response(line.body, { headers: { 'content-type': 'text/event-stream' } });
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

/** Rejects when nobody waits for the answer any more. */
function givenUp(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}

const NOW = '2026-11-16T12:00:00Z';

/** A row of a history, with what every row has. */
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

/** The beginning of a turn's stream, as far as a text that grows. */
export function opening(turn: string): object[] {
  return [{ type: 'start', messageId: turn }, { type: 'start-step' }, { type: 'text-start', id: 't' }];
}

export const words = (delta: string): object => ({ type: 'text-delta', id: 't', delta });
export const CLOSING = [{ type: 'text-end', id: 't' }, { type: 'finish-step' }];
