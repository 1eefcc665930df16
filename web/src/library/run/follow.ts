// Follows a run over its event stream until it has ended, through lost connections and restarts of the server.

import { addressOf } from '@/api/base';
import { request } from '@/api/client';
import { ApiError } from '@/api/problem';
import { mayPass } from '@/api/queries';
import type { ExecutionMeta, NodeUpdate } from '@/protocol';
import { eventsOf, type ServerEvent } from './event-stream';

export type Follower = {
  onNode: (update: NodeUpdate) => void;
  onExecution: (execution: ExecutionMeta) => void;
  onConnection: (connected: boolean) => void;
};

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 15_000;
/** The server says something at least every 15 s; after this long the connection is dead, whatever the system says. */
const SILENCE = 40_000;

/** Comes back when the run has ended, and throws when there is no way to follow it. */
export async function follow(
  graphId: string,
  executionId: string,
  follower: Follower,
  signal: AbortSignal,
): Promise<void> {
  const route = `/api/graphs/${encodeURIComponent(graphId)}/executions/${encodeURIComponent(executionId)}/stream`;
  let last: string | null = null;
  let failures = 0;
  while (!signal.aborted) {
    const watch = new SilenceWatch(signal);
    try {
      const response = await request(new URL(addressOf(route), location.href), {
        headers: last ? { 'last-event-id': last } : {},
        signal: watch.signal,
      });
      watch.heard();
      follower.onConnection(true);
      if (!response.body) throw new ApiError(0, 'NO_STREAM', 'The server sent no stream.');
      for await (const event of eventsOf(heardBy(watch, response.body))) {
        failures = 0;
        if (event.data === '[DONE]') return;
        if (isKnown(event, last)) continue;
        // Counted before it is read: one that cannot be read is not asked for again and again.
        last = event.id ?? last;
        deliver(event, follower);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && !mayPass(error)) throw error;
    } finally {
      watch.stop();
    }
    if (signal.aborted) return;
    follower.onConnection(false);
    await pause(Math.min(FIRST_PAUSE * 2 ** failures++, LONGEST_PAUSE), signal);
  }
}

/** A server that does not know where we were begins anew. */
function isKnown(event: ServerEvent, last: string | null): boolean {
  return event.id !== null && last !== null && Number(event.id) <= Number(last);
}

function deliver(event: ServerEvent, follower: Follower): void {
  if (event.name === 'node_execution_event') follower.onNode(JSON.parse(event.data));
  if (event.name === 'graph_execution_event') follower.onExecution(JSON.parse(event.data));
}

/** Ends a connection on which nothing is heard. */
class SilenceWatch {
  private readonly controller = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly outer: AbortSignal;
  private readonly abort = () => this.controller.abort();

  constructor(outer: AbortSignal) {
    this.outer = outer;
    outer.addEventListener('abort', this.abort);
    this.heard();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  heard(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(this.abort, SILENCE);
  }

  stop(): void {
    clearTimeout(this.timer);
    this.outer.removeEventListener('abort', this.abort);
  }
}

/** The same bytes; heartbeats count as a sign of life though they are no events. */
function heardBy(watch: SilenceWatch, body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        watch.heard();
        controller.enqueue(chunk);
      },
    }),
  );
}

/** Ends early when the network is back. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener('online', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    addEventListener('online', done);
    signal.addEventListener('abort', done);
  });
}
