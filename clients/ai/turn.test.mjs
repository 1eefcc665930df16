// Plain turns: the SDK shows the same as the history.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSession, settledSession } from './lib/api.mjs';
import { openChat, textOf, versions } from './lib/chat.mjs';
import { checkStream, LIVE } from './lib/checker.mjs';
import { answers, toUiMessages } from './lib/history.mjs';
import { TWO_TOOLS } from './lib/messages.mjs';

for (const { name, sdk } of versions) {
  test(`${name}: the text of a turn equals the history`, async () => {
    const session = await createSession();
    const { chat, wire, seen } = openChat(sdk, session);
    await chat.sendMessage({ text: '/stream count=20 size=7 delay_ms=1' });

    assert.equal(chat.status, 'ready');
    assert.deepEqual(chat.messages.map((message) => message.role), ['user', 'assistant']);
    assert.equal(textOf(chat.messages[1]).length, 140);
    const { messages } = await settledSession(session);
    assert.deepEqual(answers(messages), [textOf(chat.messages[1])]);
    assert.equal(messages[0].id, chat.messages[0].id, 'the row keeps the id the client gave');

    checkStream(wire.last.raw, LIVE);
    assert.match(wire.last.headers.get('content-type'), /^text\/event-stream/);
    assert.equal(wire.last.headers.get('x-vercel-ai-ui-message-stream'), 'v1');
    assert.equal(seen.finishes.length, 1);
  });

  test(`${name}: text that is not a command gets a response`, async () => {
    const session = await createSession();
    const { chat, wire } = openChat(sdk, session);
    await chat.sendMessage({ text: 'Ahoy! Zażółć 🚢 "quotes" \\ and\nlines' });
    assert.equal(chat.status, 'ready');
    assert.ok(textOf(chat.messages[1]).length > 0);
    checkStream(wire.last.raw, LIVE);
  });

  test(`${name}: two parallel tool calls reach their outputs`, async () => {
    const session = await createSession();
    const { chat, wire } = openChat(sdk, session);
    await chat.sendMessage({ text: TWO_TOOLS });

    assert.equal(chat.status, 'ready');
    const tools = chat.messages[1].parts.filter((part) => part.type.startsWith('tool-'));
    assert.deepEqual(tools.map((part) => [part.type, part.state]), [
      ['tool-list_workspace_files', 'output-available'],
      ['tool-todo_write', 'output-available'],
    ]);
    assert.deepEqual(tools[1].input.todos.map((todo) => todo.content), ['Sail']);
    for (const part of tools) assert.equal(typeof part.output, 'object');
    assert.ok(textOf(chat.messages[1]).length > 0, 'the pilot reports what came back');

    const { messages } = await settledSession(session);
    const stored = toUiMessages(messages)[1].parts.filter((part) => part.type.startsWith('tool-'));
    const shown = ({ type, toolCallId, state, input, output }) => ({ type, toolCallId, state, input, output });
    assert.deepEqual(stored.map(shown), tools.map(shown));
    checkStream(wire.last.raw, LIVE);
  });

  test(`${name}: a second message continues the same session`, async () => {
    const session = await createSession();
    const { chat, wire } = openChat(sdk, session);
    await chat.sendMessage({ text: '/stream count=3 size=4 delay_ms=0' });
    await chat.sendMessage({ text: '/stream count=5 size=4 delay_ms=0' });
    assert.deepEqual(chat.messages.map((m) => textOf(m).length).filter((_, i) => i % 2), [12, 20]);
    assert.notEqual(chat.messages[1].id, chat.messages[3].id);
    const { messages } = await settledSession(session);
    assert.deepEqual(answers(messages), [textOf(chat.messages[1]), textOf(chat.messages[3])]);
    for (const response of wire.responses) checkStream(response.raw, LIVE);
  });
}
