// Reads server-sent events from a response. The browser's EventSource cannot send the credentials.

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

/** Incremental decoder: takes text in pieces of any size and returns the complete events. */
export class EventDecoder {
  private rest: string[] = [];
  private afterReturn = false;
  private data: string[] = [];
  private name = '';
  private id: string | null = null;

  push(piece: string): ServerEvent[] {
    const events: ServerEvent[] = [];
    let start = 0;
    // The previous piece ended between CR and LF: this LF belongs to the line that has already ended.
    if (this.afterReturn && piece.startsWith('\n')) start = 1;
    if (piece) this.afterReturn = false;
    for (;;) {
      const end = endOfLine(piece, start);
      if (end < 0) break;
      this.rest.push(piece.slice(start, end));
      const event = this.line(this.rest.join(''));
      this.rest = [];
      if (event) events.push(event);
      const isPair = piece[end] === '\r' && piece[end + 1] === '\n';
      if (piece[end] === '\r' && end === piece.length - 1) this.afterReturn = true;
      start = end + (isPair ? 2 : 1);
    }
    if (start < piece.length) this.rest.push(piece.slice(start));
    return events;
  }

  private line(line: string): ServerEvent | null {
    if (line === '') return this.dispatch();
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') this.data.push(value);
    if (field === 'event') this.name = value;
    if (field === 'id' && !value.includes('\0')) this.id = value;
    return null;
  }

  private dispatch(): ServerEvent | null {
    const event =
      this.data.length > 0 ? { id: this.id, name: this.name || 'message', data: this.data.join('\n') } : null;
    this.data = [];
    this.name = '';
    this.id = null;
    return event;
  }
}

function endOfLine(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 10 || code === 13) return at;
  }
  return -1;
}
