// A lost connection without a reload: resuming returns exactly what an uninterrupted turn returns.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSession, resumeRaw, settledSession } from './lib/api.mjs';
import { openChat, versions } from './lib/chat.mjs';
import { checkStream, LIVE, REPLAY } from './lib/checker.mjs';
import { SLOW, TWO_TOOLS } from './lib/messages.mjs';
import { parseEvents } from './lib/sse.mjs';
import { afterBytes, afterEvents } from './lib/wire.mjs';

const SLOW_CUTS = [1, 2, 3, 4, 5, 12, 30, 50].map(afterEvents).concat([40, 333, 1500].map(afterBytes));

for (const { name, sdk } of versions) {
  test(`${name}: a running turn cut anywhere resumes to the whole response`, async () => {
    const control = await uncut(sdk, SLOW);
    await Promise.all(SLOW_CUTS.map((cut) => cutAndResume(sdk, SLOW, cut, control)));
  });

  test(`${name}: a turn with tools cut at any event resumes to the whole response`, async () => {
    const control = await uncut(sdk, TWO_TOOLS);
    assert.equal(control.parts.filter((part) => part.state === 'output-available').length, 2);
    const cuts = Array.from({ length: control.events - 1 }, (_, i) => afterEvents(i + 1));
    await Promise.all(cuts.map((cut) => cutAndResume(sdk, TWO_TOOLS, cut, control)));
  });

  test(`${name}: a second resume changes nothing`, async () => {
    const session = await createSession();
    const { chat } = openChat(sdk, session, { cut: afterEvents(8) });
    await chat.sendMessage({ text: SLOW });
    await chat.resumeStream();
    const once = structuredClone(chat.messages);
    await chat.resumeStream();
    assert.deepEqual(chat.messages, once);
  });
}

test('a cursor returns exactly what follows it', async () => {
  const session = await createSession();
  const { chat, wire } = openChat(versions[0].sdk, session);
  await chat.sendMessage({ text: '/stream count=12 size=5 delay_ms=1' });
  const live = parseEvents(wire.last.raw).filter((event) => event.data);
  for (const at of [1, 2, 7, live.length - 2, live.length - 1]) {
    const raw = await resumeRaw(session, { 'last-event-id': String(at) });
    assert.deepEqual(parseEvents(raw).filter((event) => event.data), live.slice(at), `after ${at}`);
  }
  const unknown = await resumeRaw(session, { 'last-event-id': 'never-heard-of' });
  assert.equal(unknown, await resumeRaw(session), 'an unknown cursor gets the whole replay');
});

async function uncut(sdk, text) {
  const session = await createSession();
  const { chat, wire } = openChat(sdk, session);
  await chat.sendMessage({ text });
  assert.equal(chat.status, 'ready');
  checkStream(wire.last.raw, LIVE);
  return { parts: comparable(chat.messages[1]), events: parseEvents(wire.last.raw).length };
}

async function cutAndResume(sdk, text, cut, control) {
  const where = `cut after ${cut.count} ${cut.unit}`;
  const session = await createSession();
  const { chat, wire } = openChat(sdk, session, { cut });
  await chat.sendMessage({ text });
  assert.equal(chat.status, 'error', `${where}: the SDK noticed the loss`);
  await chat.resumeStream();
  assert.equal(chat.status, 'ready', `${where}: ${chat.error}`);
  assert.deepEqual(chat.messages.map((message) => message.role), ['user', 'assistant'], where);
  assert.deepEqual(comparable(chat.messages[1]), control.parts, where);
  assert.equal(wire.last.method, 'GET');
  checkStream(wire.last.raw, REPLAY);
  await settledSession(session);
}

/**
 * The parts without values that differ between runs: call ids, durations, and the order in which parallel calls
 * completed, which determines the order of the pilot's paragraphs.
 */
function comparable(message) {
  const names = new Map();
  return JSON.parse(JSON.stringify(message.parts), (key, value) => {
    if (key === 'toolCallId' || key === 'tool_call_id') {
      if (!names.has(value)) names.set(value, `call ${names.size + 1}`);
      return names.get(value);
    }
    if (key === 'text') return value.split('\n\n').sort();
    return key === 'session_id' || key === 'duration_ms' ? undefined : value;
  });
}
