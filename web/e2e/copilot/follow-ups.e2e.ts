import { afterAll } from 'vitest';
import { expect, test } from '../harness';
import { Gate, ScriptedModel } from '../harness/scripted-model';
import { Copilot } from './copilot';

const FOLLOW_UP = 'And back before dark.';

const model = await ScriptedModel.start();
afterAll(() => model.close());
test.override('settings', model.settings);

/** Starts a turn, and sends a follow-up that waits for its next step. */
async function sendBoth(copilot: Copilot): Promise<Gate> {
  const gate = new Gate();
  model.respondWith(async (reply) => {
    reply.sendText('I plan it.');
    await gate.wait();
  });
  await copilot.send('Plan a trip to Breskens.');
  await copilot.responses.getByText('I plan it.').waitFor();
  await copilot.send(FOLLOW_UP);
  await copilot.followUps.getByText('Queued').waitFor();
  return gate;
}

test('a message sent during a turn is queued as a follow-up and delivered with the next step', async ({
  visitor,
}) => {
  const copilot = await Copilot.open(visitor);
  const gate = await sendBoth(copilot);
  expect(await copilot.field.inputValue()).toBe('');
  model.respondWith((reply) => reply.sendText('Back at five, then.'));
  gate.open();
  await copilot.responses.getByText('Back at five, then.').waitFor();
  await copilot.waitUntilIdle();
  expect(await copilot.followUps.count()).toBe(0);

  const said = copilot.page
    .getByRole('log')
    .getByText(/^(Plan a trip|I plan it|And back before|Back at five)/);
  const order = ['Plan a trip to Breskens.', 'I plan it.', FOLLOW_UP, 'Back at five, then.'];
  expect(await said.allTextContents(), 'each once, at its place').toEqual(order);
  await copilot.page.reload();
  await said.nth(3).waitFor();
  expect(await said.allTextContents(), 'and so after a reload').toEqual(order);
});

test('a follow-up of a stopped turn is returned, and can be sent again', async ({ visitor }) => {
  const copilot = await Copilot.open(visitor);
  await sendBoth(copilot);
  await copilot.stop.click();
  await copilot.waitUntilIdle();
  await copilot.followUps.getByRole('button', { name: 'Edit and resend' }).click();
  expect(await copilot.field.inputValue()).toBe(FOLLOW_UP);
  expect(await copilot.followUps.count()).toBe(0);
  model.respondWith((reply) => reply.sendText('Back at five, then.'));
  await copilot.field.press('Enter');
  await copilot.responses.getByText('Back at five, then.').waitFor();
});
