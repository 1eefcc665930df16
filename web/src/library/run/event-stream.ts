// Reads server-sent events from a response. The browser's own reader cannot send who we are.

export type ServerEvent = { id: string | null; name: string; data: string };

/** The events of a body, each as soon as it is complete. One that is cut off by the end is left out. */
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
    // Whoever stops listening hangs up too.
    await reader.cancel().catch(() => {});
  }
}

/** Takes text in pieces of any size and gives the events that are complete. */
export class EventDecoder {
  private rest: string[] = [];
  private afterReturn = false;
  private data: string[] = [];
  private name = '';
  private id: string | null = null;

  push(piece: string): ServerEvent[] {
    const events: ServerEvent[] = [];
    let start = 0;
    // The line feed of a pair that was cut in two belongs to the line that has ended.
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
