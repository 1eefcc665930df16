import { describe, expect, test } from 'vitest';
import { refusal } from '@/testing/fake-server';
import {
  ASSISTANT_ROW,
  goOnline,
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

describe('sending', () => {
  test('the first message creates the session and resolves when the server has accepted it', async () => {
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

  test('only the last message is sent to the server', async () => {
    server.rows = [USER_ROW, ASSISTANT_ROW];
    const runtime = open();
    await untilPhase(runtime, 'ready');
    await runtime.send('And then?');
    expect(server.bodies[0]?.messages).toHaveLength(1);
  });

  test('a refused message is rejected with the error, and its bubble is removed', async () => {
    server.on('POST /stream', () => refusal(429, 'TOO_MANY_TURNS', 'Wait for one to end.'));
    const runtime = open();
    await untilPhase(runtime, 'ready');
    await expect(runtime.send('Tides?')).rejects.toMatchObject({ code: 'TOO_MANY_TURNS' });
    expect(transcript(runtime)).toEqual([]);
    expect(phase(runtime)).toBe('ready');
  });

  test('a message that fails to arrive is sent again with the same id', async () => {
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
    goOnline();
    await sent;
    const [first, second] = server.bodies as { messages: { id: string }[] }[];
    expect(second?.messages[0]?.id).toBe(first?.messages[0]?.id);
    expect(transcript(runtime)).toEqual(['user: Tides?']);
  });

  test('two messages at once are sent in order, and both are accepted', async () => {
    const runtime = open(null);
    const sent = [runtime.send('Tides?'), runtime.send('And the wind?')];
    await Promise.all(sent);
    expect(server.count('POST '), 'one session').toBe(1);
    expect(server.count('POST /stream')).toBe(1);
    expect(server.count('POST /messages/pending')).toBe(1);
  });

  test('the same text is a new message once the first was accepted, also as a follow-up', async () => {
    const { runtime } = await runningSession();
    server.on('POST /messages/pending', () => refusal(500, 'INTERNAL', 'Not now.'));
    const refused = runtime.send('Continue');
    const isRefused = expect(refused).rejects.toMatchObject({ code: 'INTERNAL' });
    const again = setInterval(goOnline, 10);
    await isRefused;
    clearInterval(again);
    server.off('POST /messages/pending');
    await runtime.send('Continue');
    await runtime.send('Continue');
    const ids = (server.bodies as { message_id: string }[]).map((body) => body.message_id);
    const [first, second, third] = [ids[0], ids.at(-2), ids.at(-1)];
    expect(second, 'it was unknown whether it was accepted').toBe(first);
    expect(third).not.toBe(first);
  });

  test('a message sent during a turn becomes a follow-up, whose chip is removed on delivery', async () => {
    const { runtime, stream } = await runningSession();
    await runtime.send('Quickly, please');
    const [chip] = runtime.store.get().followUps;
    expect(chip).toMatchObject({ text: 'Quickly, please', state: 'waiting' });
    const messages = [{ id: chip?.id, text: 'Quickly, please' }];
    stream.send(...STREAM_END, { type: 'data-pending-drained', data: { count: 1, messages } });
    await until(() => expect(runtime.store.get().followUps).toEqual([]));
    expect(runtime.chat.messages.at(-1)?.parts.at(-1)).toMatchObject({ type: 'data-pending-drained' });
  });

  test('a follow-up that arrives too late is sent as a normal message with the same id', async () => {
    const { runtime } = await runningSession();
    server.on('POST /messages/pending', () => refusal(409, 'NO_ACTIVE_TURN', 'Nothing runs.'));
    await runtime.send('And then?');
    const [late, own] = server.bodies as [{ message_id: string }, { messages: { id: string }[] }];
    expect(own.messages[0]?.id).toBe(late.message_id);
    expect(runtime.store.get().followUps).toEqual([]);
  });

  test('a follow-up of a failed turn is returned until it is dismissed', async () => {
    const { runtime, stream } = await runningSession();
    await runtime.send('And then?');
    const id = runtime.store.get().followUps[0]?.id ?? '';
    server.running = null;
    const metadata = { kind: 'error', code: 'idle_timeout', retryable: true };
    server.rows = [USER_ROW, row(2, 'system', { content: 'Silence.', metadata })];
    const message = { id, turn_id: 'turn-1', message: 'And then?', created_at: '' };
    server.followUps = [{ ...message, state: 'returned' }];
    stream.send(...STREAM_END, { type: 'error', errorText: '[code:idle_timeout] Silence.' }).finish();
    await until(() => expect(runtime.store.get().followUps).toMatchObject([{ state: 'returned' }]));
    expect(runtime.chat.messages.at(-1)?.metadata?.error).toBe('[code:idle_timeout] Silence.');
    runtime.dropFollowUp(id);
    expect(runtime.store.get().followUps).toEqual([]);
  });
});

describe('stopping', () => {
  test('a message sent while stopping starts a new turn, which is not treated as the stopping one', async () => {
    const { runtime } = await runningSession();
    // The server responds only when the turn has ended, which takes a while.
    server.on('POST /cancel', () => new Promise(() => {}));
    server.on('POST /messages/pending', () => refusal(409, 'NO_ACTIVE_TURN', 'It is being stopped.'));
    runtime.stop();
    await untilPhase(runtime, 'stopping');
    await runtime.send('Do it differently');
    (await server.stream(2)).send(...streamStart('turn-2'), textDelta('As '));
    await untilPhase(runtime, 'streaming');
  });

  test('closes the stream, cancels the turn and shows its end from the history', async () => {
    const { runtime, stream } = await runningSession();
    server.on('POST /cancel', () => {
      server.running = null;
      const metadata = { kind: 'stopped', code: 'cancelled' };
      server.rows = [USER_ROW, row(2, 'assistant', { content: 'In ' }), row(3, 'system', { metadata })];
      return Response.json({ cancelled: true });
    });
    runtime.stop();
    expect(phase(runtime)).toBe('stopping');
    await untilPhase(runtime, 'ready');
    expect(stream.closedByClient).toBe(true);
    expect(runtime.chat.messages.at(-1)?.metadata?.stopped).toBe(true);
  });

  test('a cancel request that fails is repeated', async () => {
    const { runtime } = await runningSession();
    server.unreachable = true;
    runtime.stop();
    await until(() => expect(server.count('POST /cancel')).toBe(1));
    expect(phase(runtime)).toBe('stopping');
    server.unreachable = false;
    goOnline();
    await untilPhase(runtime, 'ready');
    expect(server.count('POST /cancel')).toBe(2);
  });
});

describe('retrying', () => {
  const metadata = { kind: 'error', code: 'idle_timeout', retryable: true };

  test('requests another response to the same message', async () => {
    server.rows = [USER_ROW, row(2, 'system', { content: 'Silence.', metadata })];
    const runtime = open();
    await untilPhase(runtime, 'ready');
    runtime.retry();
    const stream = await server.stream(1);
    expect(server.bodies[0]).toMatchObject({ trigger: 'regenerate-message', messageId: 'turn-1' });
    expect(transcript(runtime)).toEqual(['user: Tides?']);
    stream.send(...streamStart('turn-2'), textDelta('In.'));
    await untilShown(runtime, ['user: Tides?', 'assistant: In.']);
  });

  test('a refused retry shows the reason and keeps the old response', async () => {
    server.rows = [USER_ROW, ASSISTANT_ROW];
    server.on('POST /stream', () => refusal(409, 'SESSION_BUSY', 'A response is already running.'));
    const runtime = open();
    await untilPhase(runtime, 'ready');
    runtime.retry();
    await until(() => expect(runtime.store.get().error).toMatchObject({ code: 'SESSION_BUSY' }));
    expect(transcript(runtime)).toEqual(['user: Tides?', 'assistant: In and out.']);
  });
});
