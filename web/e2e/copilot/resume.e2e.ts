// The page resumes a running response: the same text, nothing duplicated, nothing missing.

import { afterAll } from 'vitest';
import { expect, NO_CONNECTION, test } from '../harness';
import { Gate, ScriptedModel } from '../harness/scripted-model';
import { Copilot, storedTranscript } from './copilot';

const QUESTION = 'How is the wind?';
const BEGINNING = 'The wind comes from the west';
const END = ' and turns to the north at noon.';
const WHOLE = [`Q ${QUESTION}`, `A ${BEGINNING}${END}`];
const LOST = /response keeps running/;

const model = await ScriptedModel.start();
afterAll(() => model.close());
test.override('settings', {
  ...model.settings,
  TURN_LEASE_MS: '2500',
  TURN_RENEW_MS: '800',
  SWEEP_INTERVAL_MS: '300',
});

/** Sends a message whose response pauses in the middle until the gate is opened. */
async function askAndPause(copilot: Copilot): Promise<{ gate: Gate; id: string }> {
  const gate = new Gate();
  model.respondWith(async (reply) => {
    reply.sendText(BEGINNING);
    await gate.wait();
    reply.sendText(END);
  });
  await copilot.send(QUESTION);
  await copilot.responses.getByText(BEGINNING).waitFor();
  return { gate, id: await copilot.sessionId() };
}

test('a response is shown while it streams, and the shown text does not move', async ({ visitor }) => {
  const copilot = await Copilot.open(visitor);
  const { gate } = await askAndPause(copilot);
  const words = copilot.responses.getByText(BEGINNING);
  const before = await words.boundingBox();
  gate.open();
  await copilot.waitUntilIdle();
  const after = await words.boundingBox();
  expect([after?.x, after?.y]).toEqual([before?.x, before?.y]);
  expect(await copilot.transcript()).toEqual(WHOLE);
});

test('a page reloaded during a response resumes it', async ({ visitor, server }) => {
  const copilot = await Copilot.open(visitor);
  const { gate, id } = await askAndPause(copilot);
  await copilot.page.reload();
  await copilot.waitUntilRunning();
  await copilot.responses.getByText(BEGINNING).waitFor();
  gate.open();
  await copilot.waitUntilIdle();
  expect(await copilot.transcript()).toEqual(WHOLE);
  expect(await storedTranscript(server, id)).toEqual(WHOLE);
});

test('a second tab shows the same response while it streams', async ({ visitor }) => {
  const first = await Copilot.open(visitor);
  const { gate, id } = await askAndPause(first);
  const second = await Copilot.open(visitor, id);
  await second.waitUntilRunning();
  await second.responses.getByText(BEGINNING).waitFor();
  gate.open();
  await Promise.all([first.waitUntilIdle(), second.waitUntilIdle()]);
  expect(await first.transcript()).toEqual(WHOLE);
  expect(await second.transcript()).toEqual(WHOLE);
});

test('a message sent in one tab appears in the other', async ({ visitor, server }) => {
  model.respondWith((reply) => reply.sendText('Good morning.'));
  const first = await Copilot.open(visitor);
  await first.sendAndWait('Hello.');
  const id = await first.sessionId();
  const second = await Copilot.open(visitor, id);
  await second.responses.first().waitFor();
  const { gate } = await askAndPause(second);
  await first.responses.getByText(BEGINNING).waitFor();
  gate.open();
  await first.waitUntilIdle();
  expect(await first.transcript()).toEqual(['Q Hello.', 'A Good morning.', ...WHOLE]);
  expect(await storedTranscript(server, id)).toEqual(await first.transcript());
});

test('a response continues after the network was cut', async ({ visitor, server }) => {
  visitor.expectErrors(NO_CONNECTION);
  const copilot = await Copilot.open(visitor);
  const { gate } = await askAndPause(copilot);
  server.proxy.disconnect();
  await copilot.page.getByText(LOST).waitFor();
  expect(await copilot.responses.getByText(BEGINNING).isVisible(), 'what was said stays').toBe(true);
  server.proxy.reconnect();
  await copilot.page.getByText(LOST).waitFor({ state: 'detached' });
  gate.open();
  await copilot.waitUntilIdle();
  expect(await copilot.transcript()).toEqual(WHOLE);
});

test('a response that ended while the network was down is shown when it is back', async ({
  visitor,
  server,
}) => {
  visitor.expectErrors(NO_CONNECTION);
  const copilot = await Copilot.open(visitor);
  const { gate, id } = await askAndPause(copilot);
  await visitor.offline(true);
  server.proxy.disconnect();
  await copilot.page.getByText(LOST).waitFor();
  gate.open();
  await expect.poll(() => storedTranscript(server, id)).toEqual(WHOLE);
  server.proxy.reconnect();
  await visitor.offline(false);
  await copilot.waitUntilIdle();
  expect(await copilot.transcript()).toEqual(WHOLE);
});

test('a response survives a server crash', async ({ visitor, server }) => {
  visitor.expectErrors(NO_CONNECTION);
  const copilot = await Copilot.open(visitor);
  const { id } = await askAndPause(copilot);
  await server.kill9();
  await copilot.page.getByText(LOST).waitFor();
  // The interrupted step is repeated.
  model.respondWith((reply) => reply.sendText(BEGINNING + END));
  await server.start();
  await copilot.responses.getByText(BEGINNING + END).waitFor({ timeout: 30_000 });
  await copilot.waitUntilIdle();
  expect(await copilot.transcript()).toEqual(WHOLE);
  expect(await storedTranscript(server, id)).toEqual(WHOLE);
});
