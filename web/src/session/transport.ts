// The AI SDK's transport for our routes. It also records how each connection ended: the SDK can't tell a body that is
// closed in the middle of a response from a complete one.

import { DefaultChatTransport, type UIMessageChunk } from 'ai';
import { apiUrl } from '@/api/base';
import { request } from '@/api/client';
import { ApiError } from '@/api/problem';
import { retryDelay, retryDelayMs } from '@/api/retry-delay';
import { withSilenceTimeout } from '@/api/silence-timeout';
import type { CopilotMessage } from './types';

export type StreamEnding =
  /** The turn has ended: the stream had a `finish`, an `error` or an `abort`. */
  | { kind: 'ended' }
  /** The connection was lost; the turn may still be running. */
  | { kind: 'disconnected'; error: unknown }
  /** There was no stream to resume. */
  | { kind: 'no-stream' }
  /** The server refused the request. */
  | { kind: 'refused'; error: unknown }
  /** We closed it. */
  | { kind: 'closed' };

/** Callbacks for an open connection. */
export type TransportListener = {
  /** The server has accepted the request. */
  onOpen: () => void;
  onChunk: (chunk: UIMessageChunk) => void;
};

type SendOptions = Parameters<DefaultChatTransport<CopilotMessage>['sendMessages']>[0];
type ReconnectOptions = Parameters<DefaultChatTransport<CopilotMessage>['reconnectToStream']>[0];

/** How often a message is sent when it is unknown whether it was accepted. The server deduplicates by message id. */
const SEND_ATTEMPTS = 4;
/** The server sends at least a heartbeat every ten seconds. */
const SILENCE_MS = 30_000;

type BytesToChunks = DefaultChatTransport<CopilotMessage>['processResponseStream'];

type Connection = { ending: StreamEnding };

export class SessionTransport extends DefaultChatTransport<CopilotMessage> {
  private connection: Connection = { ending: { kind: 'closed' } };

  constructor(
    sessionId: () => Promise<string>,
    private readonly listener: TransportListener,
  ) {
    const api = (id: string) => apiUrl(`/api/chat/sessions/${encodeURIComponent(id)}/stream`);
    super({
      fetch: fetchWithRetry,
      prepareSendMessagesRequest: async ({ messages, trigger, messageId }) => {
        const id = await sessionId();
        const last = messages.slice(-1).filter((message) => message.role === 'user');
        return { api: api(id), body: { id, messages: last, trigger, messageId } };
      },
      prepareReconnectToStreamRequest: async () => ({ api: api(await sessionId()) }),
    });
  }

  /** How the newest connection ended, or would end if it were lost now. */
  get ending(): StreamEnding {
    return this.connection.ending;
  }

  override async sendMessages(options: SendOptions): Promise<ReadableStream<UIMessageChunk>> {
    const connection = this.openConnection();
    try {
      const stream = await super.sendMessages(options);
      this.listener.onOpen();
      return this.watchEnding(connection, stream, options.abortSignal);
    } catch (error) {
      connection.ending = options.abortSignal?.aborted ? { kind: 'closed' } : { kind: 'refused', error };
      throw error;
    }
  }

  override async reconnectToStream(
    options: ReconnectOptions,
  ): Promise<ReadableStream<UIMessageChunk> | null> {
    const connection = this.openConnection();
    try {
      const stream = await super.reconnectToStream(options);
      if (!stream) {
        connection.ending = { kind: 'no-stream' };
        return null;
      }
      this.listener.onOpen();
      return this.watchEnding(connection, stream, options.abortSignal);
    } catch (error) {
      connection.ending = options.abortSignal?.aborted ? { kind: 'closed' } : { kind: 'disconnected', error };
      throw error;
    }
  }

  protected override processResponseStream(bytes: Parameters<BytesToChunks>[0]): ReturnType<BytesToChunks> {
    return super.processResponseStream(withSilenceTimeout(bytes, SILENCE_MS));
  }

  private openConnection(): Connection {
    this.connection = { ending: { kind: 'disconnected', error: undefined } };
    return this.connection;
  }

  /** Passes the chunks through, and fails when they stop before the turn has ended. */
  private watchEnding(
    connection: Connection,
    stream: ReadableStream<UIMessageChunk>,
    signal: AbortSignal | undefined,
  ): ReadableStream<UIMessageChunk> {
    signal?.addEventListener('abort', () => {
      if (connection.ending.kind === 'disconnected') connection.ending = { kind: 'closed' };
    });
    return stream.pipeThrough(
      new TransformStream<UIMessageChunk, UIMessageChunk>({
        transform: (chunk, controller) => {
          // The SDK reads nothing after an error, so an error ends the stream as well.
          if (chunk.type === 'finish' || chunk.type === 'abort' || chunk.type === 'error') {
            connection.ending = { kind: 'ended' };
          }
          this.listener.onChunk(chunk);
          controller.enqueue(chunk);
        },
        flush: () => {
          if (connection.ending.kind === 'disconnected') throw new Error('The response was cut off.');
        },
      }),
    );
  }
}

/** `fetch` with credentials. Retries transient errors; a message keeps its id, so it is accepted only once. */
async function fetchWithRetry(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const signal = init?.signal ?? new AbortController().signal;
  const attempts = init?.method === 'POST' ? SEND_ATTEMPTS : 1;
  for (let attempt = 1; ; attempt++) {
    try {
      return await request(input, init);
    } catch (error) {
      const isTransient =
        error instanceof ApiError && (error.isOffline || error.status === 502 || error.status === 503);
      if (!isTransient || attempt === attempts || signal.aborted) throw error;
      await retryDelay(retryDelayMs(attempt - 1), signal);
    }
  }
}
