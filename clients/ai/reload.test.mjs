// A reloaded page: history first, then the stream if there is one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSession, readSession, settledSession } from './lib/api.mjs';
import { openChat, textOf, versions } from './lib/chat.mjs';
import { checkStream, REPLAY } from './lib/checker.mjs';
import { toUiMessages } from './lib/history.mjs';
import { SLOW, SLOW_CHARACTERS, TWO_TOOLS } from './lib/messages.mjs';
import { afterEvents } from './lib/wire.mjs';

for (const { name, sdk } of versions) {
  test(`${name}: a reload during a turn shows the whole response once`, async () => {
    const session = await createSession();
    await openChat(sdk, session, { cut: afterEvents(10) }).chat.sendMessage({ text: SLOW });

    const read = await readSession(session);
    assert.ok(read.active_stream, 'the turn goes on without its reader');
    assert.deepEqual(read.messages.map((row) => row.role), ['user'], 'what is being said is left out');
    const { chat, wire } = openChat(sdk, session, { messages: toUiMessages(read.messages) });
    await chat.resumeStream();

    assert.equal(chat.status, 'ready');
    assert.deepEqual(chat.messages.map((message) => textOf(message).length), [SLOW.length, SLOW_CHARACTERS]);
    checkStream(wire.last.raw, REPLAY);
  });

  test(`${name}: a reload during a turn does not change the previous response`, async () => {
    const session = await createSession();
    const first = openChat(sdk, session);
    await first.chat.sendMessage({ text: '/stream count=4 size=4 delay_ms=0' });
    const second = openChat(sdk, session, { messages: first.chat.messages, cut: afterEvents(10) });
    await second.chat.sendMessage({ text: SLOW });

    const { messages } = await readSession(session);
    const { chat } = openChat(sdk, session, { messages: toUiMessages(messages) });
    await chat.resumeStream();
    assert.deepEqual(chat.messages.map((message) => message.role), ['user', 'assistant', 'user', 'assistant']);
    assert.equal(textOf(chat.messages[1]).length, 16);
    assert.equal(textOf(chat.messages[3]).length, SLOW_CHARACTERS);
  });

  for (const [kind, text] of [['plain', SLOW], ['tool', TWO_TOOLS]]) {
    test(`${name}: a reload just after the end of a ${kind} turn shows the response once`, async () => {
      const session = await createSession();
      const before = openChat(sdk, session);
      await before.chat.sendMessage({ text });
      const { messages } = await settledSession(session);

      const { chat, wire } = openChat(sdk, session, { messages: toUiMessages(messages) });
      await chat.resumeStream();
      assert.equal(chat.status, 'ready');
      assert.deepEqual(chat.messages.map((message) => message.role), ['user', 'assistant']);
      assert.deepEqual(chat.messages[1].parts, before.chat.messages[1].parts);
      assert.equal(wire.last.method, 'GET', 'an ended turn is replayed for a while');
      checkStream(wire.last.raw, REPLAY);
    });
  }

  test(`${name}: a session without a turn has nothing to resume`, async () => {
    const session = await createSession();
    const { chat, wire } = openChat(sdk, session);
    await chat.resumeStream();
    assert.equal(chat.status, 'ready');
    assert.deepEqual(chat.messages, []);
    assert.equal(wire.responses.length, 0, 'the answer has no body');
  });
}
