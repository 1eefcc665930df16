// Reads server-sent events from a response. The browser's EventSource cannot send the credentials.

import { createParser } from 'eventsource-parser';

export type ServerEvent = { id: string | null; name: string; data: string };

/** Yields the events of a body, each as soon as it is complete. An incomplete one at the end is dropped. */
export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new EventDecoder();
  const reader = body.getReader();
  const text = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* decoder.push(text.decode(value, { stream: true }));
    }
  } finally {
    // Closes the connection when the consumer stops.
    await reader.cancel().catch(() => {});
  }
}

/** Takes text in pieces of any size and returns the events that are complete. */
export class EventDecoder {
  private events: ServerEvent[] = [];
  private readonly parser = createParser({
    onEvent: ({ id, event, data }) => this.events.push({ id: id ?? null, name: event ?? 'message', data }),
  });

  push(piece: string): ServerEvent[] {
    this.parser.feed(piece);
    return this.events.splice(0);
  }
}
