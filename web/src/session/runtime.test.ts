import { describe, expect, test, vi } from 'vitest';
import { ApiError } from '@/api/problem';
import { refusal } from '@/testing/fake-server';
import { SessionRuntime } from './runtime';
import {
  ASSISTANT_ROW,
  goOnline,
  onTestEnd,
  open,
  phase,
  runningSession,
  server,
  transcript,
  USER_ROW,
  until,
  untilPhase,
  untilShown,
} from './testing/runtime-setup';
import { row, SESSION, STREAM_END, streamStart, textDelta } from './testing/scripted-server';

describe('streamStart a session', () => {
  test('shows its history, and requests no stream when no turn runs', async () => {
    server.rows = [USER_ROW, ASSISTANT_ROW];
    const runtime = open();
    await untilPhase(runtime, 'ready');
    expect(transcript(runtime)).toEqual(['user: Tides?', 'assistant: In and out.']);
    expect(runtime.store.get().title).toBe('Tides');
    expect(server.count('GET /stream')).toBe(0);
  });

  test('during a turn shows the whole response once', async () => {
    server.rows = [USER_ROW];
    server.running = 'turn-1';
    const runtime = open();
    const stream = await server.stream(1);
    stream.send(...streamStart('turn-1'), textDelta('In '), textDelta('and '));
    await untilShown(runtime, ['user: Tides?', 'assistant: In and ']);
    expect(phase(runtime)).toBe('streaming');
    server.running = null;
    server.rows = [USER_ROW, ASSISTANT_ROW];
    stream.send(textDelta('out.'), ...STREAM_END).finish();
    await untilPhase(runtime, 'ready');
    expect(transcript(runtime)).toEqual(['user: Tides?', 'assistant: In and out.']);
    expect(server.streams).toHaveLength(1);
  });

  test('twice at the same time, as strict mode does, opens one stream', async () => {
    server.rows = [USER_ROW];
    server.running = 'turn-1';
    const runtime = new SessionRuntime(SESSION);
    runtime.observe()();
    onTestEnd(runtime.observe(), () => runtime.close());
    (await server.stream(1)).send(...streamStart('turn-1'), textDelta('In'));
    await untilShown(runtime, ['user: Tides?', 'assistant: In']);
    expect(server.streams).toHaveLength(1);
  });

  test('a session that cannot be read shows the error and keeps retrying', async () => {
    server.unreachable = true;
    server.rows = [USER_ROW];
    const runtime = open();
    await until(() => expect(runtime.store.get().loadError).toBeInstanceOf(ApiError));
    expect(phase(runtime)).toBe('loading');
    server.unreachable = false;
    goOnline();
    await untilPhase(runtime, 'ready');
    expect(runtime.store.get().loadError).toBeNull();
  });

  test('a missing session reports it and does not retry', async () => {
    server.on('GET ', () => refusal(404, 'SESSION_NOT_FOUND', 'Chat not found.'));
    const runtime = open();
    await untilPhase(runtime, 'ready');
    expect(runtime.store.get().loadError).toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });

  test('loads earlier pages and prepends them', async () => {
    server.rows = [row(5, 'user', { content: 'Later', turn_id: 'turn-2' })];
    server.hasMore = true;
    const runtime = open();
    await untilPhase(runtime, 'ready');
    expect(runtime.store.get().hasOlder).toBe(true);
    server.rows = [USER_ROW, ASSISTANT_ROW, ...server.rows];
    await runtime.loadOlder();
    expect(transcript(runtime)).toEqual(['user: Tides?', 'assistant: In and out.', 'user: Later']);
    expect(runtime.store.get().hasOlder).toBe(false);
  });
});

describe('a lost connection', () => {
  test('lost again before the replay has caught up keeps the text that was shown', async () => {
    const { runtime } = await runningSession();
    for (const number of [1, 2]) {
      const stream = await server.stream(number);
      if (number === 2) stream.send({ type: 'start', messageId: 'turn-1' });
      stream.disconnect();
      await untilPhase(runtime, 'reconnecting');
      expect(transcript(runtime)).toEqual(['user: Tides?', 'assistant: In ']);
      goOnline();
    }
    (await server.stream(3)).send({ type: 'start', messageId: 'turn-1' });
    expect(transcript(runtime)).toEqual(['user: Tides?', 'assistant: In ']);
  });

  test('a broken history response is retried like a lost stream', async () => {
    const { runtime } = await runningSession();
    let broken = 0;
    server.on('GET ', () => {
      broken += 1;
      return new Response(
        new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode('{"id":'));
            controller.error(new TypeError('network error'));
          },
        }),
      );
    });
    (await server.stream(1)).disconnect();
    await untilPhase(runtime, 'reconnecting');
    goOnline();
    await until(() => expect(broken).toBeGreaterThan(0));
    expect(phase(runtime)).toBe('reconnecting');
    server.off('GET ');
    goOnline();
    (await server.stream(2)).send(...streamStart('turn-1'), textDelta('In and '));
    await untilShown(runtime, ['user: Tides?', 'assistant: In and ']);
  });

  for (const [how, breakIt] of [
    ['breaks', (stream: { disconnect: () => void }) => stream.disconnect()],
    ['is closed before the turn has ended', (stream: { close: () => void }) => stream.close()],
  ] as const) {
    test(`that ${how} is restored, and nothing is shown twice`, async () => {
      const { runtime } = await runningSession();
      breakIt(await server.stream(1));
      await untilPhase(runtime, 'reconnecting');
      expect(transcript(runtime)).toEqual(['user: Tides?', 'assistant: In ']);
      goOnline();
      const stream = await server.stream(2);
      stream.send({ type: 'start', messageId: 'turn-1' });
      expect(transcript(runtime)).toEqual(['user: Tides?', 'assistant: In ']);
      stream.send(...streamStart('turn-1').slice(1), textDelta('In and '));
      await untilShown(runtime, ['user: Tides?', 'assistant: In and ']);
      server.running = null;
      server.rows = [USER_ROW, ASSISTANT_ROW];
      stream.send(textDelta('out.'), ...STREAM_END).finish();
      await untilPhase(runtime, 'ready');
      expect(transcript(runtime)).toEqual(['user: Tides?', 'assistant: In and out.']);
    });
  }

  test('when the turn cleanups meanwhile, the whole response comes from the history', async () => {
    const { runtime } = await runningSession();
    server.unreachable = true;
    (await server.stream(1)).disconnect();
    await untilPhase(runtime, 'reconnecting');
    server.running = null;
    server.rows = [USER_ROW, ASSISTANT_ROW];
    server.unreachable = false;
    goOnline();
    await untilPhase(runtime, 'ready');
    expect(transcript(runtime)).toEqual(['user: Tides?', 'assistant: In and out.']);
    expect(server.streams).toHaveLength(1);
  });

  test('after a server crash the step repeated by the next worker is shown once', async () => {
    const { runtime } = await runningSession();
    (await server.stream(1)).disconnect();
    await untilPhase(runtime, 'reconnecting');
    goOnline();
    const takeover = { type: 'data-attempt', data: { attempt: 2, supersedes: { from: 2, to: 4 } } };
    const stream = await server.stream(2);
    stream.send(
      ...streamStart('turn-1'),
      textDelta('In '),
      ...STREAM_END.slice(0, 1),
      takeover,
      ...STREAM_END.slice(1),
    );
    stream.send(...streamStart('turn-1').slice(1), textDelta('In and out.'));
    await untilShown(runtime, ['user: Tides?', 'assistant: In and out.']);
  });
});

describe('a slow start', () => {
  test('is reported after twelve seconds until the first chunk arrives', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const runtime = new SessionRuntime(null);
    onTestEnd(() => runtime.close());
    await runtime.send('Tides?');
    vi.advanceTimersByTime(11_000);
    expect(runtime.store.get().slow).toBe(false);
    vi.advanceTimersByTime(1_500);
    expect(runtime.store.get().slow).toBe(true);
    vi.useRealTimers();
    (await server.stream(1)).send({ type: 'start', messageId: 'turn-1' });
    await until(() => expect(runtime.store.get().slow).toBe(false));
    expect(phase(runtime)).toBe('waiting');
  });

  test('shows the status the turn reports until there is text', async () => {
    const runtime = open(null);
    await runtime.send('Tides?');
    const stream = await server.stream(1);
    stream.send({ type: 'start', messageId: 'turn-1' });
    stream.send({ type: 'data-status', data: { message: 'Reading charts' }, transient: true });
    await until(() => expect(runtime.store.get().status).toBe('Reading charts'));
    stream.send(...streamStart('turn-1').slice(1), textDelta('In '));
    await untilPhase(runtime, 'streaming');
    expect(runtime.store.get().status).toBeNull();
  });
});

describe('changes made elsewhere', () => {
  test('a turn started in another window is followed', async () => {
    server.rows = [USER_ROW, ASSISTANT_ROW];
    const runtime = open();
    await untilPhase(runtime, 'ready');
    server.rows = [...server.rows, row(3, 'user', { turn_id: 'turn-2', content: 'And then?' })];
    server.running = 'turn-2';
    goOnline();
    (await server.stream(1)).send(...streamStart('turn-2'), textDelta('Again.'));
    await untilShown(runtime, [
      'user: Tides?',
      'assistant: In and out.',
      'user: And then?',
      'assistant: Again.',
    ]);
  });

  test('a session without observers closes its connection, and reopens it when observed again', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    server.rows = [USER_ROW];
    server.running = 'turn-1';
    const runtime = new SessionRuntime(SESSION);
    const unobserve = runtime.observe();
    const stream = await server.stream(1);
    stream.send(...streamStart('turn-1'), textDelta('In '));
    await untilShown(runtime, ['user: Tides?', 'assistant: In ']);
    unobserve();
    vi.advanceTimersByTime(5_000);
    vi.useRealTimers();
    await until(() => expect(stream.closedByClient).toBe(true));
    onTestEnd(runtime.observe(), () => runtime.close());
    const again = await server.stream(2);
    expect(transcript(runtime)).toEqual(['user: Tides?', 'assistant: In ']);
    again.send(...streamStart('turn-1'), textDelta('In and out.'));
    await untilShown(runtime, ['user: Tides?', 'assistant: In and out.']);
  });
});
