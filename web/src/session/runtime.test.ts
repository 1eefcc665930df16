import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ApiError } from '@/api/problem';
import { refusal } from '@/testing/fake-server';
import { SessionRuntime } from './runtime';
import { shown } from './shown';
import { CLOSING, opening, row, ScriptedServer, SESSION, words } from './testing/scripted-server';

let server: ScriptedServer;
let leave: (() => void)[];

beforeEach(() => {
  server = new ScriptedServer();
  leave = [];
});

afterEach(() => {
  for (const end of leave) end();
  vi.unstubAllGlobals();
});

function open(id: string | null = SESSION): SessionRuntime {
  const runtime = new SessionRuntime(id);
  const unobserve = runtime.observe();
  leave.push(() => {
    unobserve();
    runtime.close();
  });
  return runtime;
}

const phase = (runtime: SessionRuntime) => runtime.store.get().phase;
const until = (check: () => void) => vi.waitFor(check, { timeout: 3_000, interval: 5 });
const untilPhase = (runtime: SessionRuntime, wanted: string) =>
  until(() => expect(phase(runtime)).toBe(wanted));
/** What stands there, as `user: Hello`. */
const transcript = (runtime: SessionRuntime) =>
  shown(runtime.chat.messages, runtime.transcript.held).map(
    ({ role, parts }) => `${role}: ${parts.map((part) => (part.type === 'text' ? part.text : '')).join('')}`,
  );
const untilShown = (runtime: SessionRuntime, wanted: string[]) =>
  until(() => expect(transcript(runtime)).toEqual(wanted));
/** The pauses between attempts end when the browser says that the network is back. */
const networkIsBack = () => dispatchEvent(new Event('online'));

const ASKED = row(1, 'user', { content: 'Tides?' });
const ANSWERED = row(2, 'assistant', { content: 'In and out.' });

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
    leave.push(runtime.observe(), () => runtime.close());
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
  async function answering(): Promise<SessionRuntime> {
    server.rows = [ASKED];
    server.running = 'turn-1';
    const runtime = open();
    (await server.line(1)).say(...opening('turn-1'), words('In '));
    await untilShown(runtime, ['user: Tides?', 'assistant: In ']);
    return runtime;
  }

  test('twice, the second time before it has caught up, keeps what was there', async () => {
    const runtime = await answering();
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
    const runtime = await answering();
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
      const runtime = await answering();
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
    const runtime = await answering();
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
    const runtime = await answering();
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

describe('sending', () => {
  test('the first message makes the session and resolves when the server has taken it', async () => {
    const runtime = open(null);
    const sent = runtime.send('Tides?');
    expect(phase(runtime)).toBe('waiting');
    await sent;
    expect(runtime.store.get().id).toBe(SESSION);
    expect(server.bodies[1]).toMatchObject({
      trigger: 'submit-message',
      messages: [{ role: 'user', parts: [{ type: 'text', text: 'Tides?' }] }],
    });
    expect(transcript(runtime)).toEqual(['user: Tides?']);
  });

  test('only the last message goes to the server', async () => {
    server.rows = [ASKED, ANSWERED];
    const runtime = open();
    await untilPhase(runtime, 'ready');
    await runtime.send('And then?');
    expect(server.bodies[0]?.messages).toHaveLength(1);
  });

  test('a refused message is rejected with the refusal, and its bubble goes away', async () => {
    server.on('POST /stream', () => refusal(429, 'TOO_MANY_TURNS', 'Wait for one to end.'));
    const runtime = open();
    await untilPhase(runtime, 'ready');
    await expect(runtime.send('Tides?')).rejects.toMatchObject({ code: 'TOO_MANY_TURNS' });
    expect(transcript(runtime)).toEqual([]);
    expect(phase(runtime)).toBe('ready');
  });

  test('a message that does not get through is sent again with the same id', async () => {
    const runtime = open();
    await untilPhase(runtime, 'ready');
    let refusals = 0;
    server.on('POST /stream', () => {
      refusals += 1;
      server.off('POST /stream');
      throw new TypeError('Failed to fetch');
    });
    const sent = runtime.send('Tides?');
    await until(() => expect(refusals).toBe(1));
    networkIsBack();
    await sent;
    const [first, second] = server.bodies as { messages: { id: string }[] }[];
    expect(second?.messages[0]?.id).toBe(first?.messages[0]?.id);
    expect(transcript(runtime)).toEqual(['user: Tides?']);
  });

  test('two at once follow each other, and both are taken', async () => {
    const runtime = open(null);
    const sent = [runtime.send('Tides?'), runtime.send('And the wind?')];
    await Promise.all(sent);
    expect(server.count('POST '), 'one session').toBe(1);
    expect(server.count('POST /stream')).toBe(1);
    expect(server.count('POST /messages/pending')).toBe(1);
  });

  test('the same words again are a new message once the first was taken, also as a follow-up', async () => {
    server.rows = [ASKED];
    server.running = 'turn-1';
    const runtime = open();
    (await server.line(1)).say(...opening('turn-1'), words('In '));
    await untilPhase(runtime, 'streaming');
    server.on('POST /messages/pending', () => refusal(500, 'INTERNAL', 'Not now.'));
    const refused = runtime.send('Continue');
    const isRefused = expect(refused).rejects.toMatchObject({ code: 'INTERNAL' });
    const again = setInterval(networkIsBack, 10);
    await isRefused;
    clearInterval(again);
    server.off('POST /messages/pending');
    await runtime.send('Continue');
    await runtime.send('Continue');
    const ids = (server.bodies as { message_id: string }[]).map((body) => body.message_id);
    const [first, second, third] = [ids[0], ids.at(-2), ids.at(-1)];
    expect(second, 'nobody knew whether it was taken').toBe(first);
    expect(third).not.toBe(first);
  });

  test('while a turn is at work becomes a follow-up, which leaves its chip when it is delivered', async () => {
    server.rows = [ASKED];
    server.running = 'turn-1';
    const runtime = open();
    const line = await server.line(1);
    line.say(...opening('turn-1'), words('In '));
    await untilPhase(runtime, 'streaming');
    await runtime.send('Quickly, please');
    const [chip] = runtime.store.get().followUps;
    expect(chip).toMatchObject({ text: 'Quickly, please', state: 'waiting' });
    const messages = [{ id: chip?.id, text: 'Quickly, please' }];
    line.say(...CLOSING, { type: 'data-pending-drained', data: { count: 1, messages } });
    await until(() => expect(runtime.store.get().followUps).toEqual([]));
    expect(runtime.chat.messages.at(-1)?.parts.at(-1)).toMatchObject({ type: 'data-pending-drained' });
  });

  test('a follow-up that comes too late is sent as a message of its own, with the same id', async () => {
    server.rows = [ASKED];
    server.running = 'turn-1';
    const runtime = open();
    (await server.line(1)).say(...opening('turn-1'), words('In '));
    await untilPhase(runtime, 'streaming');
    server.on('POST /messages/pending', () => refusal(409, 'NO_ACTIVE_TURN', 'Nothing runs.'));
    await runtime.send('And then?');
    const [late, own] = server.bodies as [{ message_id: string }, { messages: { id: string }[] }];
    expect(own.messages[0]?.id).toBe(late.message_id);
    expect(runtime.store.get().followUps).toEqual([]);
  });

  test('a follow-up of a turn that failed is handed back until it is taken away', async () => {
    server.rows = [ASKED];
    server.running = 'turn-1';
    const runtime = open();
    const line = await server.line(1);
    line.say(...opening('turn-1'), words('In '));
    await untilPhase(runtime, 'streaming');
    await runtime.send('And then?');
    const id = runtime.store.get().followUps[0]?.id ?? '';
    server.running = null;
    const metadata = { kind: 'error', code: 'idle_timeout', retryable: true };
    server.rows = [ASKED, row(2, 'system', { content: 'Silence.', metadata })];
    const message = { id, turn_id: 'turn-1', message: 'And then?', created_at: '' };
    server.followUps = [{ ...message, state: 'returned' }];
    line.say(...CLOSING, { type: 'error', errorText: '[code:idle_timeout] Silence.' }).finish();
    await until(() => expect(runtime.store.get().followUps).toMatchObject([{ state: 'returned' }]));
    expect(runtime.chat.messages.at(-1)?.metadata?.error).toBe('[code:idle_timeout] Silence.');
    runtime.dropFollowUp(id);
    expect(runtime.store.get().followUps).toEqual([]);
  });
});

describe('a slow beginning', () => {
  test('is said after twelve seconds, and taken back with the first chunk', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const runtime = new SessionRuntime(null);
    leave.push(() => runtime.close());
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

describe('stopping', () => {
  test('and sending at once: the new turn is not taken for the one that stops', async () => {
    server.rows = [ASKED];
    server.running = 'turn-1';
    const runtime = open();
    (await server.line(1)).say(...opening('turn-1'), words('In '));
    await untilPhase(runtime, 'streaming');
    // The server answers when the turn has ended, which takes a while.
    server.on('POST /cancel', () => new Promise(() => {}));
    server.on('POST /messages/pending', () => refusal(409, 'NO_ACTIVE_TURN', 'It is being stopped.'));
    runtime.stop();
    await untilPhase(runtime, 'stopping');
    await runtime.send('Do it differently');
    (await server.line(2)).say(...opening('turn-2'), words('As '));
    await untilPhase(runtime, 'streaming');
  });

  test('closes the stream, cancels the turn and shows what the history says about it', async () => {
    server.rows = [ASKED];
    server.running = 'turn-1';
    const runtime = open();
    const line = await server.line(1);
    line.say(...opening('turn-1'), words('In '));
    await untilPhase(runtime, 'streaming');
    server.on('POST /cancel', () => {
      server.running = null;
      const metadata = { kind: 'stopped', code: 'cancelled' };
      server.rows = [ASKED, row(2, 'assistant', { content: 'In ' }), row(3, 'system', { metadata })];
      return Response.json({ cancelled: true });
    });
    runtime.stop();
    expect(phase(runtime)).toBe('stopping');
    await untilPhase(runtime, 'ready');
    expect(line.closedByReader).toBe(true);
    expect(runtime.chat.messages.at(-1)?.metadata?.stopped).toBe(true);
  });

  test('a cancel that does not get through is said again', async () => {
    server.rows = [ASKED];
    server.running = 'turn-1';
    const runtime = open();
    (await server.line(1)).say(...opening('turn-1'), words('In '));
    await untilPhase(runtime, 'streaming');
    server.away = true;
    runtime.stop();
    await until(() => expect(server.count('POST /cancel')).toBe(1));
    expect(phase(runtime)).toBe('stopping');
    server.away = false;
    networkIsBack();
    await untilPhase(runtime, 'ready');
    expect(server.count('POST /cancel')).toBe(2);
  });
});

describe('trying again', () => {
  const metadata = { kind: 'error', code: 'idle_timeout', retryable: true };

  test('asks for another answer to the same question', async () => {
    server.rows = [ASKED, row(2, 'system', { content: 'Silence.', metadata })];
    const runtime = open();
    await untilPhase(runtime, 'ready');
    runtime.retry();
    const line = await server.line(1);
    expect(server.bodies[0]).toMatchObject({ trigger: 'regenerate-message', messageId: 'turn-1' });
    expect(transcript(runtime)).toEqual(['user: Tides?']);
    line.say(...opening('turn-2'), words('In.'));
    await untilShown(runtime, ['user: Tides?', 'assistant: In.']);
  });

  test('that is refused says why, and leaves what was there', async () => {
    server.rows = [ASKED, ANSWERED];
    server.on('POST /stream', () => refusal(409, 'SESSION_BUSY', 'The session is at work.'));
    const runtime = open();
    await untilPhase(runtime, 'ready');
    runtime.retry();
    await until(() => expect(runtime.store.get().error).toMatchObject({ code: 'SESSION_BUSY' }));
    expect(transcript(runtime)).toEqual(['user: Tides?', 'assistant: In and out.']);
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
    leave.push(runtime.observe(), () => runtime.close());
    const again = await server.line(2);
    expect(transcript(runtime)).toEqual(['user: Tides?', 'assistant: In ']);
    again.say(...opening('turn-1'), words('In and out.'));
    await untilShown(runtime, ['user: Tides?', 'assistant: In and out.']);
  });
});
