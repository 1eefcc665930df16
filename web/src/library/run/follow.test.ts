import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { follow } from './follow';

type Asked = { lastEventId: string | null; signal: AbortSignal };
const asked: Asked[] = [];
let answers: (() => Response | Promise<Response>)[] = [];

function stream(text: string, end: 'close' | 'break' | 'open' = 'close'): Response {
  let sent = false;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (!sent) {
        sent = true;
        controller.enqueue(new TextEncoder().encode(text));
        return;
      }
      if (end === 'close') controller.close();
      if (end === 'break') controller.error(new TypeError('network error'));
      if (end === 'open') return new Promise<void>(() => {});
    },
  });
  return new Response(body);
}

const node = (id: number) => `id: ${id}\nevent: node_execution_event\ndata: {"node_exec_id":"e:${id}"}\n\n`;
const DONE = 'data: [DONE]\n\n';

function followed(signal = new AbortController().signal) {
  const nodes: string[] = [];
  const connection: boolean[] = [];
  const ended = follow(
    'g',
    'e',
    {
      onNode: (update) => nodes.push(update.node_exec_id),
      onExecution: () => {},
      onConnection: (connected) => connection.push(connected),
    },
    signal,
  );
  return { nodes, connection, ended };
}

beforeEach(() => {
  vi.useFakeTimers();
  asked.length = 0;
  vi.stubGlobal('fetch', async (request: Request) => {
    asked.push({ lastEventId: request.headers.get('last-event-id'), signal: request.signal });
    const answer = answers.shift();
    if (!answer) throw new TypeError('Failed to fetch');
    return answer();
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('following a run', () => {
  it('ends when the server says that it is over', async () => {
    answers = [() => stream(node(1) + node(2) + DONE, 'open')];
    const { nodes, ended } = followed();
    await ended;
    expect(nodes).toEqual(['e:1', 'e:2']);
  });

  it('goes on after a cut where it was, and takes nothing twice', async () => {
    answers = [() => stream(node(1) + node(2), 'break'), () => stream(node(1) + node(2) + node(3) + DONE)];
    const { nodes, connection, ended } = followed();
    await vi.runAllTimersAsync();
    await ended;
    expect(asked.map((one) => one.lastEventId)).toEqual([null, '2']);
    expect(nodes).toEqual(['e:1', 'e:2', 'e:3']);
    expect(connection).toEqual([true, false, true]);
  });

  it('waits longer and longer while the server is away', async () => {
    const away = () => Promise.reject(new TypeError('Failed to fetch'));
    answers = [away, away, away, () => stream(DONE)];
    const { ended } = followed();
    const began = Date.now();
    await vi.runAllTimersAsync();
    await ended;
    expect(Date.now() - began).toBe(500 + 1000 + 2000);
  });

  it('tries at once when the network is back', async () => {
    answers = [() => Promise.reject(new TypeError('Failed to fetch')), () => stream(DONE)];
    const { ended, connection } = followed();
    await vi.waitUntil(() => connection.length > 0);
    const began = Date.now();
    dispatchEvent(new Event('online'));
    await ended;
    expect(Date.now() - began).toBeLessThan(500);
  });

  it('gives up on a run that is not there', async () => {
    answers = [
      () => Response.json({ detail: 'There is no such run.', code: 'EXECUTION_NOT_FOUND' }, { status: 404 }),
    ];
    await expect(followed().ended).rejects.toThrow('There is no such run.');
  });

  it('skips an event that cannot be read instead of asking for it for ever', async () => {
    answers = [
      () => stream(`${node(1)}id: 2\nevent: node_execution_event\ndata: {broken\n\n`, 'open'),
      () => stream(node(3) + DONE),
    ];
    const { nodes, ended } = followed();
    await vi.runAllTimersAsync();
    await ended;
    expect(asked[1]?.lastEventId).toBe('2');
    expect(nodes).toEqual(['e:1', 'e:3']);
  });

  it('stops when nobody wants to know any more', async () => {
    answers = [() => Promise.reject(new TypeError('Failed to fetch'))];
    const leaving = new AbortController();
    const { ended, connection } = followed(leaving.signal);
    await vi.waitUntil(() => connection.length > 0);
    leaving.abort();
    await ended;
    expect(asked.length).toBe(1);
  });
});
