// Checks the raw bytes of a stream more strictly than any client: clients tolerate a missing end, open parts and missing
// ids, and a user would then see half a response as the whole.

import { checkShape } from './chunks.mjs';
import { parseEvents } from './sse.mjs';

/** A live turn: ids without gaps, including transient parts. */
export const LIVE = 'live';
/** A replayed turn: deltas may be merged, transient parts must not be repeated. */
export const REPLAY = 'replay';
/** A stream that is not in a log, because another stream has the content: without ids, so that clients do not resume it. */
export const OFF_THE_LOG = 'off the log';

/** Checks a whole stream and returns its chunks. Throws at the first fault, naming it. */
export function checkStream(raw, form) {
  const events = parseEvents(raw).filter((event) => event.comment === undefined);
  if (Object.keys(events[0] ?? {}).join() !== 'retry') throw new Error('no retry hint comes first');
  if (events.at(-1).data !== '[DONE]') throw new Error('[DONE] is not the last event');
  const said = events.slice(1, -1);
  checkIds(said, form);
  const chunks = said.map((event) => JSON.parse(event.data));
  const turn = new Turn();
  for (const chunk of chunks) {
    checkShape(chunk);
    if (form === REPLAY && chunk.transient) throw new Error(`a replay repeats ${chunk.type}`);
    turn.take(chunk);
  }
  turn.close();
  return chunks;
}

function checkIds(events, form) {
  if (form === OFF_THE_LOG) {
    if (events.some((event) => event.id !== undefined)) throw new Error('an event has an id');
    return;
  }
  let last = 0;
  for (const event of events) {
    if (!/^[1-9]\d*$/.test(event.id)) throw new Error(`${event.id} is not an event id`);
    const id = Number(event.id);
    if (id <= last) throw new Error(`event id ${id} follows ${last}`);
    if (form === LIVE && id !== last + 1) throw new Error(`event ids ${last + 1}..${id - 1} are missing`);
    last = id;
  }
}

/** The order of a turn: `start`, steps with their parts inside, one end. */
class Turn {
  place = 'before';
  /** Open text and reasoning parts, as `text:id`. */
  open = new Set();
  /** Closed text and reasoning ids of this step. */
  closed = new Set();
  /** Tool calls of the turn by id: `streaming`, `called` or `settled`. */
  calls = new Map();
  failed = false;

  take(chunk) {
    const { type } = chunk;
    if (this.place === 'ended') throw new Error(`${type} comes after the end`);
    if (this.place === 'before' && type !== 'start') throw new Error(`${type} comes before start`);
    if (this.failed && type !== 'finish') throw new Error(`${type} stands between error and finish`);
    const [, kind, what] = type.match(/^(text|reasoning)-(start|delta|end)$/) ?? [];
    if (kind) this.part(kind, what, chunk.id);
    else if (type.startsWith('tool-')) this.tool(chunk);
    else if (!type.startsWith('data-')) this.frame(type);
  }

  close() {
    if (this.place !== 'ended') throw new Error('the turn has no end');
  }

  frame(type) {
    const moves = {
      start: ['before', 'between'],
      'start-step': ['between', 'step'],
      'finish-step': ['step', 'between'],
      error: ['between', 'between'],
      finish: ['between', 'ended'],
      abort: ['between', 'ended'],
    };
    const [from, to] = moves[type];
    if (this.place !== from) throw new Error(`${type} comes ${this.where()}`);
    if (type === 'finish-step') this.leaveStep();
    if (type === 'error') this.failed = true;
    this.place = to;
  }

  leaveStep() {
    if (this.open.size > 0) throw new Error(`finish-step leaves ${[...this.open]} open`);
    const waiting = [...this.calls].filter(([, state]) => state !== 'settled').map(([id]) => id);
    if (waiting.length > 0) throw new Error(`finish-step leaves the calls ${waiting} without a result`);
    this.closed.clear();
  }

  part(kind, what, id) {
    if (this.place !== 'step') throw new Error(`${kind}-${what} comes ${this.where()}`);
    const name = `${kind}:${id}`;
    if (what === 'start') {
      if (this.open.has(name) || this.closed.has(name)) throw new Error(`${name} is opened twice`);
      this.open.add(name);
    } else if (!this.open.has(name)) {
      throw new Error(`${kind}-${what} for ${name}, which is not open`);
    } else if (what === 'end') {
      this.open.delete(name);
      this.closed.add(name);
    }
  }

  tool({ type, toolCallId: id, preliminary }) {
    if (this.place !== 'step') throw new Error(`${type} comes ${this.where()}`);
    const moves = {
      'tool-input-start': [[undefined], 'streaming'],
      'tool-input-delta': [['streaming'], 'streaming'],
      'tool-input-available': [[undefined, 'streaming'], 'called'],
      'tool-input-error': [[undefined, 'streaming'], 'settled'],
      'tool-output-available': [['called'], 'settled'],
      'tool-output-error': [['called'], 'settled'],
    };
    const [from, to] = moves[type];
    const state = this.calls.get(id);
    if (!from.includes(state)) throw new Error(`${type} for the call ${id}, which is ${state ?? 'unknown'}`);
  // The final result of the call is still to come.
    this.calls.set(id, preliminary ? 'called' : to);
  }

  where() {
    return { before: 'before start', between: 'outside a step', step: 'inside a step' }[this.place];
  }
}
