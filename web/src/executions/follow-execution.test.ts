import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { followExecution } from './follow-execution';

type StreamRequest = { lastEventId: string | null; signal: AbortSignal };
const requests: StreamRequest[] = [];
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

function startFollowing(signal = new AbortController().signal) {
  const nodes: string[] = [];
  const connection: boolean[] = [];
  const ended = followExecution(
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
  requests.length = 0;
  vi.stubGlobal('fetch', async (request: Request) => {
    requests.push({ lastEventId: request.headers.get('last-event-id'), signal: request.signal });
    const answer = answers.shift();
    if (!answer) throw new TypeError('Failed to fetch');
    return answer();
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('followExecution', () => {
  it('ends on the [DONE] event', async () => {
    answers = [() => stream(node(1) + node(2) + DONE, 'open')];
    const { nodes, ended } = startFollowing();
    await ended;
    expect(nodes).toEqual(['e:1', 'e:2']);
  });

  it('resumes after a lost connection without duplicate events', async () => {
    answers = [() => stream(node(1) + node(2), 'break'), () => stream(node(1) + node(2) + node(3) + DONE)];
    const { nodes, connection, ended } = startFollowing();
    await vi.runAllTimersAsync();
    await ended;
    expect(requests.map((one) => one.lastEventId)).toEqual([null, '2']);
    expect(nodes).toEqual(['e:1', 'e:2', 'e:3']);
    expect(connection).toEqual([true, false, true]);
  });

  it('backs off exponentially while the server is unreachable', async () => {
    const offline = () => Promise.reject(new TypeError('Failed to fetch'));
    answers = [offline, offline, offline, () => stream(DONE)];
    const { ended } = startFollowing();
    const startedAt = Date.now();
    await vi.runAllTimersAsync();
    await ended;
    expect(Date.now() - startedAt).toBe(500 + 1000 + 2000);
  });

  it('retries at once when the network is back', async () => {
    answers = [() => Promise.reject(new TypeError('Failed to fetch')), () => stream(DONE)];
    const { ended, connection } = startFollowing();
    await vi.waitUntil(() => connection.length > 0);
    const startedAt = Date.now();
    dispatchEvent(new Event('online'));
    await ended;
    expect(Date.now() - startedAt).toBeLessThan(500);
  });

  it('rejects for a missing run', async () => {
    answers = [
      () => Response.json({ detail: 'Run not found.', code: 'EXECUTION_NOT_FOUND' }, { status: 404 }),
    ];
    await expect(startFollowing().ended).rejects.toThrow('Run not found.');
  });

  it('skips an event that cannot be parsed instead of requesting it forever', async () => {
    answers = [
      () => stream(`${node(1)}id: 2\nevent: node_execution_event\ndata: {broken\n\n`, 'open'),
      () => stream(node(3) + DONE),
    ];
    const { nodes, ended } = startFollowing();
    await vi.runAllTimersAsync();
    await ended;
    expect(requests[1]?.lastEventId).toBe('2');
    expect(nodes).toEqual(['e:1', 'e:3']);
  });

  it('reconnects when an open connection is silent', async () => {
    answers = [() => stream(node(1), 'open'), () => stream(node(2) + DONE)];
    const { nodes, connection, ended } = startFollowing();
    await vi.advanceTimersByTimeAsync(39_000);
    expect(connection).toEqual([true]);
    await vi.advanceTimersByTimeAsync(2_000);
    await ended;
    expect(connection).toEqual([true, false, true]);
    expect(requests.map((one) => one.lastEventId)).toEqual([null, '1']);
    expect(nodes).toEqual(['e:1', 'e:2']);
  });

  it('gives up a request that gets no response, and sends another', async () => {
    answers = [() => new Promise<Response>(() => {}), () => stream(DONE)];
    const { ended } = startFollowing();
    await vi.advanceTimersByTimeAsync(39_000);
    expect(requests.map((one) => one.signal.aborted)).toEqual([false]);
    await vi.advanceTimersByTimeAsync(2_000);
    await ended;
    expect(requests).toHaveLength(2);
    expect(requests[0]?.signal.aborted).toBe(true);
  });

  it('stops when aborted', async () => {
    answers = [() => Promise.reject(new TypeError('Failed to fetch'))];
    const abort = new AbortController();
    const { ended, connection } = startFollowing(abort.signal);
    await vi.waitUntil(() => connection.length > 0);
    abort.abort();
    await ended;
    expect(requests.length).toBe(1);
  });
});
