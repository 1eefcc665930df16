// Failures are shown, lose nothing, and can be retried.

import { afterAll } from 'vitest';
import { expect, NO_CONNECTION, test } from '../harness';
import { ScriptedModel } from '../harness/scripted-model';
import { Copilot } from './copilot';

const model = await ScriptedModel.start();
afterAll(() => model.close());
test.override('settings', model.settings);

test('a failed turn shows the reason and can be retried', async ({ visitor }) => {
  model.respondWith((reply) => reply.fail(400, 'The moon is in the wrong house.'));
  const copilot = await Copilot.open(visitor);
  await copilot.sendAndWait('How is the wind?');
  const failure = copilot.page.getByRole('group', { name: 'Something went wrong' });
  await failure.getByText(/wrong house/).waitFor();
  model.respondWith((reply) => reply.sendText('The wind is from the west.'));
  await failure.getByRole('button', { name: 'Try again' }).click();
  await copilot.responses.getByText('The wind is from the west.').waitFor();
  await copilot.waitUntilIdle();
  expect(await failure.count()).toBe(0);
  expect(await copilot.transcript()).toEqual(['Q How is the wind?', 'A The wind is from the west.']);
});

test('a response that breaks off keeps its text, also after a reload', async ({ visitor }) => {
  model.respondWith((reply) => {
    reply.sendText('The wind is');
    reply.endWithError('The model has lost its voice.');
  });
  const copilot = await Copilot.open(visitor);
  await copilot.sendAndWait('How is the wind?');
  for (const look of ['first', 'second']) {
    await copilot.page.getByRole('group', { name: 'Something went wrong' }).waitFor();
    expect(await copilot.transcript(), look).toEqual(['Q How is the wind?', 'A The wind is']);
    await copilot.page.reload();
  }
});

test('a message that does not reach the server is put back into the field', async ({ visitor, server }) => {
  visitor.expectErrors(NO_CONNECTION);
  const copilot = await Copilot.open(visitor);
  await copilot.field.waitFor();
  // The part of the page that shows messages is loaded beside the first page, and cannot be loaded afterward.
  await copilot.page.waitForLoadState('networkidle');
  server.proxy.disconnect();
  await copilot.send('Nobody hears this');
  await copilot.page.getByRole('alert').waitFor({ timeout: 30_000 });
  expect(await copilot.field.inputValue()).toBe('Nobody hears this');
  server.proxy.reconnect();
  model.respondWith((reply) => reply.sendText('Now I do.'));
  await copilot.field.press('Enter');
  await copilot.responses.getByText('Now I do.').waitFor();
  await copilot.waitUntilIdle();
  expect(await copilot.transcript()).toEqual(['Q Nobody hears this', 'A Now I do.']);
});

test('a draft survives a reload', async ({ visitor }) => {
  const copilot = await Copilot.open(visitor);
  await copilot.field.fill('half a thou');
  await copilot.page.reload();
  await expect.poll(() => copilot.field.inputValue()).toBe('half a thou');
});
