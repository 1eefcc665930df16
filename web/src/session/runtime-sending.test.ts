import { describe, expect, test } from 'vitest';
import { refusal } from '@/testing/fake-server';
import { CLOSING, opening, row, SESSION, words } from './testing/scripted-server';
import {
  ANSWERED,
  ASKED,
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
    const { runtime } = await answering();
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
    const { runtime, line } = await answering();
    await runtime.send('Quickly, please');
    const [chip] = runtime.store.get().followUps;
    expect(chip).toMatchObject({ text: 'Quickly, please', state: 'waiting' });
    const messages = [{ id: chip?.id, text: 'Quickly, please' }];
    line.say(...CLOSING, { type: 'data-pending-drained', data: { count: 1, messages } });
    await until(() => expect(runtime.store.get().followUps).toEqual([]));
    expect(runtime.chat.messages.at(-1)?.parts.at(-1)).toMatchObject({ type: 'data-pending-drained' });
  });

  test('a follow-up that comes too late is sent as a message of its own, with the same id', async () => {
    const { runtime } = await answering();
    server.on('POST /messages/pending', () => refusal(409, 'NO_ACTIVE_TURN', 'Nothing runs.'));
    await runtime.send('And then?');
    const [late, own] = server.bodies as [{ message_id: string }, { messages: { id: string }[] }];
    expect(own.messages[0]?.id).toBe(late.message_id);
    expect(runtime.store.get().followUps).toEqual([]);
  });

  test('a follow-up of a turn that failed is handed back until it is taken away', async () => {
    const { runtime, line } = await answering();
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

describe('stopping', () => {
  test('and sending at once: the new turn is not taken for the one that stops', async () => {
    const { runtime } = await answering();
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
    const { runtime, line } = await answering();
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
    const { runtime } = await answering();
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
