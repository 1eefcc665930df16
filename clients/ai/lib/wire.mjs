// A `fetch` that records the received bytes and can lose the connection on demand.

/** Loses the connection after this many whole events. */
export const afterEvents = (count) => ({ unit: 'events', count });
/** Loses the connection after this many bytes, in the middle of an event if they end there. */
export const afterBytes = (count) => ({ unit: 'bytes', count });

export class Wire {
  /** @param cut where the first streamed response is cut, if at all. */
  constructor(cut) {
    this.cut = cut;
    /** One entry per response with a body: `{method, status, headers, raw, request}`. */
    this.responses = [];
  }

  fetch = async (url, init = {}) => {
    const response = await fetch(url, init);
    if (!response.body) return response;
    const record = {
      method: init.method ?? 'GET',
      request: init.body,
      status: response.status,
      headers: response.headers,
      raw: '',
    };
    this.responses.push(record);
    const cut = this.cut;
    this.cut = undefined;
    return new Response(recorded(response.body, record, cut), response);
  };

  get last() {
    return this.responses.at(-1);
  }
}

function recorded(body, record, cut) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = cut?.count ?? Infinity;
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) {
        controller.close();
        return;
      }
      const kept = cut ? value.subarray(0, keep(value, cut.unit, rest)) : value;
      rest -= cut?.unit === 'events' ? boundaries(kept).length : kept.length;
      record.raw += decoder.decode(kept, { stream: true });
      if (kept.length > 0) controller.enqueue(kept);
      if (rest <= 0) {
    // What a browser reports; the SDK detects a lost network by exactly this type and text.
        controller.error(new TypeError('network error'));
        await reader.cancel();
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** How many bytes of a piece may still be delivered. */
function keep(piece, unit, rest) {
  if (unit === 'bytes') return Math.min(rest, piece.length);
  return boundaries(piece)[rest - 1] ?? piece.length;
}

/** The ends of events within a piece. An empty line across two pieces is missed, which only moves a cut. */
function boundaries(piece) {
  const ends = [];
  for (let i = 1; i < piece.length; i++) {
    if (piece[i] === 10 && piece[i - 1] === 10) ends.push(i + 1);
  }
  return ends;
}
