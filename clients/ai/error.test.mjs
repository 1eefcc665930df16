// A failed turn is reported in the stream with a code, in the chat as an error, and in the history as a message.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSession, resumeRaw, settledSession } from './lib/api.mjs';
import { openChat, textOf, versions } from './lib/chat.mjs';
import { checkStream, LIVE, REPLAY } from './lib/checker.mjs';

for (const { name, sdk } of versions) {
  test(`${name}: a refusing provider ends the chat with an error and a code`, async () => {
    const session = await createSession();
    const { chat, wire } = openChat(sdk, session);
    await chat.sendMessage({ text: '/fail refused' });

    assert.equal(chat.status, 'error');
    assert.match(chat.error.message, /^\[code:[a-z_]+\] .+/);
    const { messages } = await settledSession(session);
    assert.ok(messages.length >= 2, 'the failure is a visible row of the history');
    const live = checkStream(wire.last.raw, LIVE);
    assert.deepEqual(live.slice(-2).map((chunk) => chunk.type), ['error', 'finish']);
    checkStream(await resumeRaw(session), REPLAY);
  });

  test(`${name}: a session continues after a failure`, async () => {
    const session = await createSession();
    const { chat } = openChat(sdk, session);
    await chat.sendMessage({ text: '/fail refused' });
    await chat.sendMessage({ text: '/stream count=3 size=4 delay_ms=0' });
    assert.equal(chat.status, 'ready', String(chat.error));
    assert.equal(textOf(chat.messages.at(-1)).length, 12);
  });

  test(`${name}: a session that does not exist is a readable error`, async () => {
    const { chat } = openChat(sdk, '00000000-0000-7000-8000-000000000000');
    await chat.sendMessage({ text: 'Anyone there?' });
    assert.equal(chat.status, 'error');
    assert.match(chat.error.message, /"code"/);
  });
}
