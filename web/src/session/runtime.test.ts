import { describe, expect, test, vi } from 'vitest';
import { ApiError } from '@/api/problem';
import { refusal } from '@/testing/fake-server';
import { SessionRuntime } from './runtime';
import { CLOSING, opening, row, SESSION, words } from './testing/scripted-server';
import {
  ANSWERED,
  ASKED,
  afterwards,
  answering,
  networkIsBack,
  open,
  phase,
  server,
  transcript,
  until,
  untilPhase,
  untilShown,
} from './testing/stage';

describe('opening a session', () => {
  test('shows its history, and asks for no stream when nothing runs', async () => {
    server.rows = [ASKED, ANSWERED];
    const runtime = open();
    await untilPhase(runtime, 'ready');
    expect(transcript(runtime)).toEqual(['user: Tides?', 'assistant: In and out.']);
    expect(runtime.store.get().title).toBe('Tides');
    expect(server.count('GET /stream')).toBe(0);
  });

  test('in the middle of a turn shows the whole answer once', async () => {
    server.rows = [ASKED];
    server.running = 'turn-1';
    const runtime = open();
    const line = await server.line(1);
    line.say(...opening('turn-1'), words('In '), words('and '));
    await untilShown(runtime, ['user: Tides?', 'assistant: In and ']);
    expect(phase(runtime)).toBe('streaming');
    server.running = null;
    server.rows = [ASKED, ANSWERED];
    line.say(words('out.'), ...CLOSING).finish();
    await untilPhase(runtime, 'ready');
    expect(transcript(runtime)).toEqual(['user: Tides?', 'assistant: In and out.']);
    expect(server.lines).toHaveLength(1);
  });

  test('twice at the same time, as strict mode does, opens one stream', async () => {
    server.rows = [ASKED];
    server.running = 'turn-1';
    const runtime = new SessionRuntime(SESSION);
    runtime.observe()();
    afterwards(runtime.observe(), () => runtime.close());
    (await server.line(1)).say(...opening('turn-1'), words('In'));
    await untilShown(runtime, ['user: Tides?', 'assistant: In']);
    expect(server.lines).toHaveLength(1);
  });

  test('that cannot be read says why, and goes on trying', async () => {
    server.away = true;
    server.rows = [ASKED];
    const runtime = open();
    await until(() => expect(runtime.store.get().loadError).toBeInstanceOf(ApiError));
    expect(phase(runtime)).toBe('loading');
    server.away = false;
    networkIsBack();
    await untilPhase(runtime, 'ready');
    expect(runtime.store.get().loadError).toBeNull();
  });

  test('that is not there says so once', async () => {
    server.on('GET ', () => refusal(404, 'SESSION_NOT_FOUND', 'There is no such session.'));
    const runtime = open();
    await untilPhase(runtime, 'ready');
    expect(runtime.store.get().loadError).toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });

  test('reads earlier pages and joins them', async () => {
    server.rows = [row(5, 'user', { content: 'Later', turn_id: 'turn-2' })];
    server.hasMore = true;
    const runtime = open();
    await untilPhase(runtime, 'ready');
    expect(runtime.store.get().hasOlder).toBe(true);
    server.rows = [ASKED, ANSWERED, ...server.rows];
    await runtime.loadOlder();
    expect(transcript(runtime)).toEqual(['user: Tides?', 'assistant: In and out.', 'user: Later']);
    expect(runtime.store.get().hasOlder).toBe(false);
  });
});

describe('a connection that breaks', () => {
  test('twice, the second time before it has caught up, keeps what was there', async () => {
    const { runtime } = await answering();
    for (const number of [1, 2]) {
      const line = await server.line(number);
      if (number === 2) line.say({ type: 'start', messageId: 'turn-1' });
      line.cut();
      await untilPhase(runtime, 'reconnecting');
      expect(transcript(runtime)).toEqual(['user: Tides?', 'assistant: In ']);
      networkIsBack();
    }
    (await server.line(3)).say({ type: 'start', messageId: 'turn-1' });
    expect(transcript(runtime)).toEqual(['user: Tides?', 'assistant: In ']);
  });

  test('in the middle of the history is one like any other', async () => {
    const { runtime } = await answering();
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
    (await server.line(1)).cut();
    await untilPhase(runtime, 'reconnecting');
    networkIsBack();
    await until(() => expect(broken).toBeGreaterThan(0));
    expect(phase(runtime)).toBe('reconnecting');
    server.off('GET ');
    networkIsBack();
    (await server.line(2)).say(...opening('turn-1'), words('In and '));
    await untilShown(runtime, ['user: Tides?', 'assistant: In and ']);
  });

  for (const [how, breakIt] of [
    ['is cut', (line: { cut: () => void }) => line.cut()],
    ['is closed in good order without an end', (line: { close: () => void }) => line.close()],
  ] as const) {
    test(`because it ${how} is made again, and nothing stands twice`, async () => {
      const { runtime } = await answering();
      breakIt(await server.line(1));
      await untilPhase(runtime, 'reconnecting');
      expect(transcript(runtime)).toEqual(['user: Tides?', 'assistant: In ']);
      networkIsBack();
      const line = await server.line(2);
      line.say({ type: 'start', messageId: 'turn-1' });
      expect(transcript(runtime)).toEqual(['user: Tides?', 'assistant: In ']);
      line.say(...opening('turn-1').slice(1), words('In and '));
      await untilShown(runtime, ['user: Tides?', 'assistant: In and ']);
      server.running = null;
      server.rows = [ASKED, ANSWERED];
      line.say(words('out.'), ...CLOSING).finish();
      await untilPhase(runtime, 'ready');
      expect(transcript(runtime)).toEqual(['user: Tides?', 'assistant: In and out.']);
    });
  }

  test('while the turn ends elsewhere gives the whole answer from the history', async () => {
    const { runtime } = await answering();
    server.away = true;
    (await server.line(1)).cut();
    await untilPhase(runtime, 'reconnecting');
    server.running = null;
    server.rows = [ASKED, ANSWERED];
    server.away = false;
    networkIsBack();
    await untilPhase(runtime, 'ready');
    expect(transcript(runtime)).toEqual(['user: Tides?', 'assistant: In and out.']);
    expect(server.lines).toHaveLength(1);
  });

  test('because the server went down shows what the next worker says, once', async () => {
    const { runtime } = await answering();
    (await server.line(1)).cut();
    await untilPhase(runtime, 'reconnecting');
    networkIsBack();
    const takeover = { type: 'data-attempt', data: { attempt: 2, supersedes: { from: 2, to: 4 } } };
    const line = await server.line(2);
    line.say(...opening('turn-1'), words('In '), ...CLOSING.slice(0, 1), takeover, ...CLOSING.slice(1));
    line.say(...opening('turn-1').slice(1), words('In and out.'));
    await untilShown(runtime, ['user: Tides?', 'assistant: In and out.']);
  });
});

describe('a slow beginning', () => {
  test('is said after twelve seconds, and taken back with the first chunk', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const runtime = new SessionRuntime(null);
    afterwards(() => runtime.close());
    await runtime.send('Tides?');
    vi.advanceTimersByTime(11_000);
    expect(runtime.store.get().slow).toBe(false);
    vi.advanceTimersByTime(1_500);
    expect(runtime.store.get().slow).toBe(true);
    vi.useRealTimers();
    (await server.line(1)).say({ type: 'start', messageId: 'turn-1' });
    await until(() => expect(runtime.store.get().slow).toBe(false));
    expect(phase(runtime)).toBe('waiting');
  });

  test('shows what the turn says of itself until it has words', async () => {
    const runtime = open(null);
    await runtime.send('Tides?');
    const line = await server.line(1);
    line.say({ type: 'start', messageId: 'turn-1' });
    line.say({ type: 'data-status', data: { message: 'Reading charts' }, transient: true });
    await until(() => expect(runtime.store.get().status).toBe('Reading charts'));
    line.say(...opening('turn-1').slice(1), words('In '));
    await untilPhase(runtime, 'streaming');
    expect(runtime.store.get().status).toBeNull();
  });
});

describe('looking around', () => {
  test('follows a turn that another window has started', async () => {
    server.rows = [ASKED, ANSWERED];
    const runtime = open();
    await untilPhase(runtime, 'ready');
    server.rows = [...server.rows, row(3, 'user', { turn_id: 'turn-2', content: 'And then?' })];
    server.running = 'turn-2';
    networkIsBack();
    (await server.line(1)).say(...opening('turn-2'), words('Again.'));
    await untilShown(runtime, [
      'user: Tides?',
      'assistant: In and out.',
      'user: And then?',
      'assistant: Again.',
    ]);
  });

  test('a conversation that nobody looks at closes its connection, and takes it up again', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    server.rows = [ASKED];
    server.running = 'turn-1';
    const runtime = new SessionRuntime(SESSION);
    const unobserve = runtime.observe();
    const line = await server.line(1);
    line.say(...opening('turn-1'), words('In '));
    await untilShown(runtime, ['user: Tides?', 'assistant: In ']);
    unobserve();
    vi.advanceTimersByTime(5_000);
    vi.useRealTimers();
    await until(() => expect(line.closedByReader).toBe(true));
    afterwards(runtime.observe(), () => runtime.close());
    const again = await server.line(2);
    expect(transcript(runtime)).toEqual(['user: Tides?', 'assistant: In ']);
    again.say(...opening('turn-1'), words('In and out.'));
    await untilShown(runtime, ['user: Tides?', 'assistant: In and out.']);
  });
});
