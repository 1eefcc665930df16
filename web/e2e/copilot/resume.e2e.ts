// The page comes back to an answer that is under way: the same words, nothing twice, nothing missing.

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

/** Asks, and the answer stops in its middle until the gate is opened. */
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

test('an answer is shown as it comes, and what stands there stays where it is', async ({ visitor }) => {
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

test('a page that is loaded again in the middle of an answer goes on with it', async ({
  visitor,
  server,
}) => {
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

test('a second tab sees the same answer come', async ({ visitor }) => {
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

test('what is sent in one tab appears in the other', async ({ visitor, server }) => {
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

test('an answer goes on after the network was cut', async ({ visitor, server }) => {
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

test('an answer that ended while the network was away is there when it is back', async ({
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

test('an answer survives the sudden death of the server', async ({ visitor, server }) => {
  visitor.expectTrouble(NO_CONNECTION);
  const copilot = await Copilot.open(visitor);
  const { id } = await askAndPause(copilot);
  await server.kill9();
  await copilot.page.getByText(LOST).waitFor();
  // The step that was cut off is done again.
  model.play((reply) => reply.say(BEGINNING + END));
  await server.start();
  await copilot.answers.getByText(BEGINNING + END).waitFor({ timeout: 30_000 });
  await copilot.rests();
  expect(await copilot.transcript()).toEqual(WHOLE);
  expect(await storedTranscript(server, id)).toEqual(WHOLE);
});
