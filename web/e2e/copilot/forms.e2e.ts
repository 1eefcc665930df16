// Cards with forms: submitting one sends a message. All of this works without a model: the offline pilot understands
// the messages that the cards send.

import { expect, test } from '../harness';
import { Copilot } from './copilot';

test('an agent is run with the inputs from its card, and its outputs are shown', async ({ visitor }) => {
  const copilot = await Copilot.open(visitor);
  await copilot.sendAndWait('/tool run_agent {"username_agent_slug":"pilothouse/text-in-numbers"}');
  const form = copilot.responses.first();
  await form.getByLabel('Text').fill('Three small words');
  await form.getByRole('button', { name: 'Run agent' }).click();
  await copilot.responses.nth(1).waitFor();
  await copilot.waitUntilIdle();
  await copilot.responses.nth(1).getByText('3 words, 17 characters').first().waitFor();
  expect(await copilot.userMessages.nth(1).textContent()).toContain('text: Three small words');
});

test('values typed into a card are kept while another chat is open', async ({ visitor }) => {
  const copilot = await Copilot.open(visitor);
  await copilot.sendAndWait('/tool run_agent {"username_agent_slug":"pilothouse/text-in-numbers"}');
  const field = copilot.responses.first().getByLabel('Text');
  await field.fill('Half a thought');
  await copilot.page.getByRole('link', { name: 'New chat' }).first().click();
  await copilot.responses.first().waitFor({ state: 'detached' });
  await copilot.page.goBack();
  await field.waitFor();
  expect(await field.inputValue()).toBe('Half a thought');
});
