// The page resumes a running response: the same text, nothing duplicated, nothing missing.

import { afterAll } from 'vitest';
import { expect, NO_CONNECTION, test } from '../harness';
import { Gate, Model } from '../harness/model';
import { Copilot, storedTranscript } from './copilot';

const QUESTION = 'How is the wind?';
const BEGINNING = 'The wind comes from the west';
const END = ' and turns to the north at noon.';
const WHOLE = [`Q ${QUESTION}`, `A ${BEGINNING}${END}`];
const LOST = /response keeps running/;

const model = await Model.start();
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
  model.play(async (reply) => {
    reply.say(BEGINNING);
    await gate.pass();
    reply.say(END);
  });
  await copilot.send(QUESTION);
  await copilot.answers.getByText(BEGINNING).waitFor();
  return { gate, id: await copilot.sessionId() };
}

test('a response is shown while it streams, and the shown text does not move', async ({ visitor }) => {
  const copilot = await Copilot.open(visitor);
  const { gate } = await askAndPause(copilot);
  const words = copilot.answers.getByText(BEGINNING);
  const before = await words.boundingBox();
  gate.open();
  await copilot.rests();
  const after = await words.boundingBox();
  expect([after?.x, after?.y]).toEqual([before?.x, before?.y]);
  expect(await copilot.transcript()).toEqual(WHOLE);
});

test('a page reloaded during a response resumes it', async ({ visitor, server }) => {
  const copilot = await Copilot.open(visitor);
  const { gate, id } = await askAndPause(copilot);
  await copilot.page.reload();
  await copilot.works();
  await copilot.answers.getByText(BEGINNING).waitFor();
  gate.open();
  await copilot.rests();
  expect(await copilot.transcript()).toEqual(WHOLE);
  expect(await storedTranscript(server, id)).toEqual(WHOLE);
});

test('a second tab shows the same response while it streams', async ({ visitor }) => {
  const first = await Copilot.open(visitor);
  const { gate, id } = await askAndPause(first);
  const second = await Copilot.open(visitor, id);
  await second.works();
  await second.answers.getByText(BEGINNING).waitFor();
  gate.open();
  await Promise.all([first.rests(), second.rests()]);
  expect(await first.transcript()).toEqual(WHOLE);
  expect(await second.transcript()).toEqual(WHOLE);
});

test('a message sent in one tab appears in the other', async ({ visitor, server }) => {
  model.play((reply) => reply.say('Good morning.'));
  const first = await Copilot.open(visitor);
  await first.ask('Hello.');
  const id = await first.sessionId();
  const second = await Copilot.open(visitor, id);
  await second.answers.first().waitFor();
  const { gate } = await askAndPause(second);
  await first.answers.getByText(BEGINNING).waitFor();
  gate.open();
  await first.rests();
  expect(await first.transcript()).toEqual(['Q Hello.', 'A Good morning.', ...WHOLE]);
  expect(await storedTranscript(server, id)).toEqual(await first.transcript());
});

test('a response continues after the network was cut', async ({ visitor, server }) => {
  visitor.expectTrouble(NO_CONNECTION);
  const copilot = await Copilot.open(visitor);
  const { gate } = await askAndPause(copilot);
  server.line.cut();
  await copilot.page.getByText(LOST).waitFor();
  expect(await copilot.answers.getByText(BEGINNING).isVisible(), 'what was said stays').toBe(true);
  server.line.mend();
  await copilot.page.getByText(LOST).waitFor({ state: 'detached' });
  gate.open();
  await copilot.rests();
  expect(await copilot.transcript()).toEqual(WHOLE);
});

test('a response that ended while the network was down is shown when it is back', async ({
  visitor,
  server,
}) => {
  visitor.expectTrouble(NO_CONNECTION);
  const copilot = await Copilot.open(visitor);
  const { gate, id } = await askAndPause(copilot);
  await visitor.offline(true);
  server.line.cut();
  await copilot.page.getByText(LOST).waitFor();
  gate.open();
  await expect.poll(() => storedTranscript(server, id)).toEqual(WHOLE);
  server.line.mend();
  await visitor.offline(false);
  await copilot.rests();
  expect(await copilot.transcript()).toEqual(WHOLE);
});

test('a response survives a server crash', async ({ visitor, server }) => {
  visitor.expectTrouble(NO_CONNECTION);
  const copilot = await Copilot.open(visitor);
  const { id } = await askAndPause(copilot);
  await server.kill9();
  await copilot.page.getByText(LOST).waitFor();
  // The interrupted step is repeated.
  model.play((reply) => reply.say(BEGINNING + END));
  await server.start();
  await copilot.answers.getByText(BEGINNING + END).waitFor({ timeout: 30_000 });
  await copilot.rests();
  expect(await copilot.transcript()).toEqual(WHOLE);
  expect(await storedTranscript(server, id)).toEqual(WHOLE);
});
