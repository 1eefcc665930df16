// Stopping is a separate request: closing the connection does not stop a turn.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cancel, createSession, readSession, resumeRaw, settledSession } from './lib/api.mjs';
import { openChat, textOf, untilText, versions } from './lib/chat.mjs';
import { checkStream, LIVE, REPLAY } from './lib/checker.mjs';
import { answers } from './lib/history.mjs';
import { SLOW, SLOW_CHARACTERS } from './lib/messages.mjs';

const ENDLESS = '/stream count=2000 size=5 delay_ms=20';

for (const { name, sdk } of versions) {
  test(`${name}: a stopped turn keeps its partial response`, async () => {
    const session = await createSession();
    const { chat, seen } = openChat(sdk, session);
    const sent = chat.sendMessage({ text: ENDLESS });
    await untilText(chat, 20);
    const [report] = await Promise.all([cancel(session), chat.stop()]);
    await sent;

    assert.equal(report.cancelled, true);
    assert.equal(chat.status, 'ready');
    assert.equal(seen.finishes.at(-1).isAbort, true);
    const { messages, active_stream } = await readSession(session);
    assert.equal(active_stream, null, 'the answer to a cancel comes after the end');
    const [kept] = answers(messages);
    assert.ok(kept.startsWith(textOf(chat.messages[1])), 'what the person saw is kept');
    const ended = checkStream(await resumeRaw(session), REPLAY).at(-1);
    assert.equal(ended.type, 'abort');
  });

  test(`${name}: a stream canceled by another client ends correctly`, async () => {
    const session = await createSession();
    const { chat, wire } = openChat(sdk, session);
    const sent = chat.sendMessage({ text: ENDLESS });
    await untilText(chat, 20);
    await cancel(session);
    await sent;
    assert.equal(chat.status, 'ready');
    assert.equal(checkStream(wire.last.raw, LIVE).at(-1).type, 'abort');
    const { messages } = await readSession(session);
    assert.deepEqual(answers(messages), [textOf(chat.messages[1])]);
  });

  test(`${name}: stop without a cancel only closes the connection`, async () => {
    const session = await createSession();
    const { chat } = openChat(sdk, session);
    const sent = chat.sendMessage({ text: SLOW });
    await untilText(chat, 20);
    await chat.stop();
    await sent;
    const { messages } = await settledSession(session);
    assert.equal(answers(messages)[0].length, SLOW_CHARACTERS);
  });

  test(`${name}: a session continues after a stop`, async () => {
    const session = await createSession();
    const { chat } = openChat(sdk, session);
    const sent = chat.sendMessage({ text: ENDLESS });
    await untilText(chat, 10);
    await cancel(session);
    await sent;
    await chat.sendMessage({ text: '/stream count=3 size=4 delay_ms=0' });
    assert.equal(chat.status, 'ready');
    assert.equal(textOf(chat.messages.at(-1)).length, 12);
  });
}

test('a cancel without a running turn reports that', async () => {
  const report = await cancel(await createSession());
  assert.equal(report.cancelled, false);
  assert.equal(report.reason, 'no_active_task');
});
