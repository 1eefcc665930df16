// Follows a stream of server-sent events until its end, reconnecting after lost connections and server restarts.

import { apiUrl } from './base';
import { request } from './client';
import { eventsOf, type ServerEvent } from './event-stream';
import { ApiError } from './problem';
import { isTransientError } from './queries';
import { retryDelay } from './retry-delay';
import { failOnSilence, withSilenceTimeout } from './silence-timeout';

export type EventListener = {
  onEvent: (event: ServerEvent) => void;
  onConnection?: (connected: boolean) => void;
};

const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 15_000;
/** The server sends data at least every 15 s. After this long without any, the connection is treated as lost. */
const SILENCE_MS = 40_000;

/** Resolves when the stream has ended; rejects if it cannot be followed. */
export async function followEvents(
  route: string,
  { onEvent, onConnection }: EventListener,
  signal: AbortSignal,
): Promise<void> {
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
      onConnection?.(true);
      if (!response.body) throw new ApiError(0, 'NO_STREAM', 'The server sent no event stream.');
      for await (const event of eventsOf(withSilenceTimeout(response.body, SILENCE_MS))) {
        failures = 0;
        if (event.data === '[DONE]') return;
        if (isDuplicate(event, last)) continue;
        // Recorded before parsing, so that an event that cannot be parsed is not requested forever.
        last = event.id ?? last;
        onEvent(event);
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
    onConnection?.(false);
    await retryDelay(Math.min(FIRST_RETRY_MS * 2 ** failures++, MAX_RETRY_MS), signal);
  }
}

/** Whether the event was already delivered: a server that ignores the last event id replays from the start. */
function isDuplicate(event: ServerEvent, last: string | null): boolean {
  return event.id !== null && last !== null && Number(event.id) <= Number(last);
}
