// Regenerating: the old response is removed from the history, the user message stays.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSession, settledSession } from './lib/api.mjs';
import { openChat, textOf, versions } from './lib/chat.mjs';
import { checkStream, LIVE } from './lib/checker.mjs';
import { answers, toUiMessages } from './lib/history.mjs';

const ASK = '/stream count=6 size=3 delay_ms=0';

for (const { name, sdk } of versions) {
  test(`${name}: regenerating the last response replaces it`, async () => {
    const session = await createSession();
    const { chat, wire } = openChat(sdk, session);
    await chat.sendMessage({ text: ASK });
    const [question, old] = chat.messages;
    await chat.regenerate();

    assert.equal(chat.status, 'ready', String(chat.error));
    assert.deepEqual(chat.messages.map((message) => message.role), ['user', 'assistant']);
    assert.equal(textOf(chat.messages[1]), textOf(old));
    assert.notEqual(chat.messages[1].id, old.id, 'it is another message');
    const { messages } = await settledSession(session);
    assert.deepEqual(messages.map((row) => row.role), ['user', 'assistant']);
    assert.equal(messages[0].id, question.id);
    assert.deepEqual(answers(messages), [textOf(chat.messages[1])]);
    checkStream(wire.last.raw, LIVE);
  });

  test(`${name}: regenerating an earlier response removes everything after it`, async () => {
    const session = await createSession();
    const { chat } = openChat(sdk, session);
    await chat.sendMessage({ text: ASK });
    await chat.sendMessage({ text: '/stream count=2 size=2 delay_ms=0' });
    await chat.regenerate({ messageId: chat.messages[1].id });

    assert.equal(chat.status, 'ready', String(chat.error));
    assert.deepEqual(chat.messages.map((message) => textOf(message).length), [ASK.length, 18]);
    const { messages } = await settledSession(session);
    assert.deepEqual(messages.map((row) => row.role), ['user', 'assistant']);
  });

  test(`${name}: a reloaded page can regenerate a response from the history`, async () => {
    const session = await createSession();
    await openChat(sdk, session).chat.sendMessage({ text: ASK });
    const { messages } = await settledSession(session);
    const { chat } = openChat(sdk, session, { messages: toUiMessages(messages) });
    await chat.regenerate({ messageId: chat.messages[1].id });
    assert.equal(chat.status, 'ready', String(chat.error));
    assert.equal(textOf(chat.messages[1]).length, 18);
    assert.equal((await settledSession(session)).messages.length, 2);
  });
}
