// The AI SDK's own transport on our routes, with an eye on how each connection ends: to the SDK a body that is closed
// in the middle of an answer looks like a complete one.

import { DefaultChatTransport, type UIMessageChunk } from 'ai';
import { addressOf } from '@/api/base';
import { request } from '@/api/client';
import { ApiError } from '@/api/problem';
import { alive } from './alive';
import { pause, pauseMs } from './pause';
import type { CopilotMessage } from './types';

export type Ending =
  /** The turn has said its last word: `finish`, also after an error, or `abort`. */
  | { kind: 'ended' }
  /** The connection broke off; the turn may go on. */
  | { kind: 'cut'; error: unknown }
  /** There was nothing to come back to. */
  | { kind: 'nothing' }
  /** The server did not take the request. */
  | { kind: 'refused'; error: unknown }
  /** We closed it. */
  | { kind: 'closed' };

/** What is heard of a connection while it lasts. */
export type Listener = {
  /** The server has taken the request. */
  onOpen: () => void;
  onChunk: (chunk: UIMessageChunk) => void;
};

type SendOptions = Parameters<DefaultChatTransport<CopilotMessage>['sendMessages']>[0];
type ReconnectOptions = Parameters<DefaultChatTransport<CopilotMessage>['reconnectToStream']>[0];

/** How often a message is sent again whose taking is uncertain. Its id makes that safe. */
const SEND_ATTEMPTS = 4;

type BytesToChunks = DefaultChatTransport<CopilotMessage>['processResponseStream'];

type Connection = { ending: Ending };

export class Transport extends DefaultChatTransport<CopilotMessage> {
  private connection: Connection = { ending: { kind: 'closed' } };

  constructor(
    sessionId: () => Promise<string>,
    private readonly listener: Listener,
  ) {
    const api = (id: string) => addressOf(`/api/chat/sessions/${encodeURIComponent(id)}/stream`);
    super({
      fetch: sent,
      prepareSendMessagesRequest: async ({ messages, trigger, messageId }) => {
        const id = await sessionId();
        const last = messages.slice(-1).filter((message) => message.role === 'user');
        return { api: api(id), body: { id, messages: last, trigger, messageId } };
      },
      prepareReconnectToStreamRequest: async () => ({ api: api(await sessionId()) }),
    });
  }

  /** How the newest connection ended, or would end if it broke off now. */
  get ending(): Ending {
    return this.connection.ending;
  }

  override async sendMessages(options: SendOptions): Promise<ReadableStream<UIMessageChunk>> {
    const connection = this.opening();
    try {
      const stream = await super.sendMessages(options);
      this.listener.onOpen();
      return this.watched(connection, stream, options.abortSignal);
    } catch (error) {
      connection.ending = options.abortSignal?.aborted ? { kind: 'closed' } : { kind: 'refused', error };
      throw error;
    }
  }

  override async reconnectToStream(
    options: ReconnectOptions,
  ): Promise<ReadableStream<UIMessageChunk> | null> {
    const connection = this.opening();
    try {
      const stream = await super.reconnectToStream(options);
      if (!stream) {
        connection.ending = { kind: 'nothing' };
        return null;
      }
      this.listener.onOpen();
      return this.watched(connection, stream, options.abortSignal);
    } catch (error) {
      connection.ending = options.abortSignal?.aborted ? { kind: 'closed' } : { kind: 'cut', error };
      throw error;
    }
  }

  protected override processResponseStream(bytes: Parameters<BytesToChunks>[0]): ReturnType<BytesToChunks> {
    return super.processResponseStream(alive(bytes));
  }

  private opening(): Connection {
    this.connection = { ending: { kind: 'cut', error: undefined } };
    return this.connection;
  }

  /** The same chunks; fails when they stop before the turn's last word. */
  private watched(
    connection: Connection,
    stream: ReadableStream<UIMessageChunk>,
    signal: AbortSignal | undefined,
  ): ReadableStream<UIMessageChunk> {
    signal?.addEventListener('abort', () => {
      if (connection.ending.kind === 'cut') connection.ending = { kind: 'closed' };
    });
    return stream.pipeThrough(
      new TransformStream<UIMessageChunk, UIMessageChunk>({
        transform: (chunk, controller) => {
          // The SDK reads nothing after an error, so that is the last word as well.
          if (chunk.type === 'finish' || chunk.type === 'abort' || chunk.type === 'error') {
            connection.ending = { kind: 'ended' };
          }
          this.listener.onChunk(chunk);
          controller.enqueue(chunk);
        },
        flush: () => {
          if (connection.ending.kind === 'cut') throw new Error('The answer broke off.');
        },
      }),
    );
  }
}

/** `fetch` with our identity. What may pass by itself is sent again: a message keeps its id, so it is taken once. */
async function sent(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const signal = init?.signal ?? new AbortController().signal;
  const attempts = init?.method === 'POST' ? SEND_ATTEMPTS : 1;
  for (let attempt = 1; ; attempt++) {
    try {
      return await request(input, init);
    } catch (error) {
      const passing =
        error instanceof ApiError && (error.isOffline || error.status === 502 || error.status === 503);
      if (!passing || attempt === attempts || signal.aborted) throw error;
      await pause(pauseMs(attempt - 1), signal);
    }
  }
}
