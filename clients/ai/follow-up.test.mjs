// A message sent while a response streams: the running turn answers it, and neither stream breaks.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSession, followUps, settledSession } from './lib/api.mjs';
import { openChat, textOf, untilText, versions } from './lib/chat.mjs';
import { checkStream, LIVE, OFF_THE_LOG } from './lib/checker.mjs';
import { answers } from './lib/history.mjs';
import { SLOW, SLOW_CHARACTERS } from './lib/messages.mjs';

const SHORT = '/stream count=2 size=7 delay_ms=0';
const SHORT_CHARACTERS = 14;

for (const { name, sdk } of versions) {
  test(`${name}: a message sent while a response streams is answered in that stream`, async () => {
    const session = await createSession();
    const { chat, wire, seen } = openChat(sdk, session);
    const sent = chat.sendMessage({ text: SLOW });
    await untilText(chat, 20);
    const added = chat.sendMessage({ text: SHORT });
    await Promise.all([sent, added]);

    assert.equal(chat.status, 'ready');
    assert.deepEqual(seen.errors, []);
    assert.deepEqual(seen.finishes.map(({ isAbort, isError }) => isAbort || isError), [false, false]);
    const [answer, nothing] = wire.responses.map(({ raw }) => raw);
    const kinds = checkStream(nothing, OFF_THE_LOG).map((chunk) => chunk.type);
    assert.deepEqual(kinds, ['start', 'start-step', 'finish-step', 'finish']);
    const drained = checkStream(answer, LIVE).filter((chunk) => chunk.type === 'data-pending-drained');
    assert.deepEqual(drained.map(({ data }) => data.messages.map(({ text }) => text)), [[SHORT]]);

    const shown = chat.messages.filter((message) => message.role === 'assistant').map(textOf).join('');
    assert.equal(shown.length, SLOW_CHARACTERS + SHORT_CHARACTERS, 'all that was said is shown, and once');
    const { messages } = await settledSession(session);
    assert.deepEqual(messages.map((row) => row.role), ['user', 'assistant', 'user', 'assistant']);
    assert.deepEqual(answers(messages), [shown]);
    const [, own] = chat.messages.filter((message) => message.role === 'user');
    assert.equal(messages[2].id, own.id, 'the row keeps the id the client gave');
    const { follow_ups } = await followUps(session);
    assert.deepEqual(follow_ups.map(({ id, state }) => [id, state]), [[own.id, 'delivered']]);
  });

  test(`${name}: several messages in a row are answered together, and the session continues`, async () => {
    const session = await createSession();
    const { chat, wire, seen } = openChat(sdk, session);
    const sent = [chat.sendMessage({ text: SLOW })];
    await untilText(chat, 20);
    for (let i = 0; i < 3; i++) sent.push(chat.sendMessage({ text: SHORT }));
    await Promise.all(sent);
    assert.deepEqual(seen.errors, []);
    for (const { raw } of wire.responses.slice(1)) checkStream(raw, OFF_THE_LOG);
    checkStream(wire.responses[0].raw, LIVE);
    const { messages } = await settledSession(session);
    assert.deepEqual(messages.map((row) => row.role), ['user', 'assistant', 'user', 'user', 'user', 'assistant']);

    await chat.sendMessage({ text: SHORT });
    assert.equal(chat.status, 'ready');
    assert.equal(textOf(chat.messages.at(-1)).length, SHORT_CHARACTERS);
    checkStream(wire.last.raw, LIVE);
  });
}
