// Follows a run over its event stream until it ends, reconnecting after lost connections and server restarts.

import { apiUrl } from '@/api/base';
import { request } from '@/api/client';
import { ApiError } from '@/api/problem';
import { isTransientError } from '@/api/queries';
import { retryDelay } from '@/api/retry-delay';
import { failOnSilence, withSilenceTimeout } from '@/api/silence-timeout';
import type { ExecutionMeta, NodeUpdate } from '@/protocol';
import { eventsOf, type ServerEvent } from './event-stream';

export type ExecutionListener = {
  onNode: (update: NodeUpdate) => void;
  onExecution: (execution: ExecutionMeta) => void;
  onConnection: (connected: boolean) => void;
};

const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 15_000;
/** The server sends data at least every 15 s. After this long without any, the connection is treated as lost. */
const SILENCE_MS = 40_000;

/** Resolves when the run has ended; rejects if it cannot be followed. */
export async function followExecution(
  graphId: string,
  executionId: string,
  listener: ExecutionListener,
  signal: AbortSignal,
): Promise<void> {
  const route = `/api/graphs/${encodeURIComponent(graphId)}/executions/${encodeURIComponent(executionId)}/stream`;
  let last: string | null = null;
  let failures = 0;
  while (!signal.aborted) {
    const connection = new AbortController();
    const close = () => connection.abort();
    signal.addEventListener('abort', close);
    try {
      const sent = request(new URL(apiUrl(route), location.href), {
        headers: last ? { 'last-event-id': last } : {},
        signal: connection.signal,
      });
      const response = await failOnSilence(sent, SILENCE_MS);
      listener.onConnection(true);
      if (!response.body) throw new ApiError(0, 'NO_STREAM', 'The server sent no event stream.');
      for await (const event of eventsOf(withSilenceTimeout(response.body, SILENCE_MS))) {
        failures = 0;
        if (event.data === '[DONE]') return;
        if (isDuplicate(event, last)) continue;
        // Recorded before parsing, so that an event that cannot be parsed is not requested forever.
        last = event.id ?? last;
        deliver(event, listener);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && !isTransientError(error)) throw error;
    } finally {
      signal.removeEventListener('abort', close);
      // Ends a request that was given up after a silence.
      close();
    }
    if (signal.aborted) return;
    listener.onConnection(false);
    await retryDelay(Math.min(FIRST_RETRY_MS * 2 ** failures++, MAX_RETRY_MS), signal);
  }
}

/** Whether the event was already delivered: a server that ignores the last event id replays from the start. */
function isDuplicate(event: ServerEvent, last: string | null): boolean {
  return event.id !== null && last !== null && Number(event.id) <= Number(last);
}

function deliver(event: ServerEvent, listener: ExecutionListener): void {
  if (event.name === 'node_execution_event') listener.onNode(JSON.parse(event.data));
  if (event.name === 'graph_execution_event') listener.onExecution(JSON.parse(event.data));
}
