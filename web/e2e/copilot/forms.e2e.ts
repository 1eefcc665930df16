// Cards that ask for something: what is filled in goes by way of the conversation, and something comes of it. All of
// this works without a model: the offline pilot understands what the cards say.

import { expect, test } from '../harness';
import { Copilot } from './copilot';

test('an agent is run with the inputs that its card was given, and its outputs are shown', async ({
  visitor,
}) => {
  const copilot = await Copilot.open(visitor);
  await copilot.ask('/tool run_agent {"username_agent_slug":"pilothouse/text-in-numbers"}');
  const form = copilot.answers.first();
  await form.getByLabel('Text').fill('Three small words');
  await form.getByRole('button', { name: 'Run agent' }).click();
  await copilot.answers.nth(1).waitFor();
  await copilot.rests();
  await copilot.answers.nth(1).getByText('3 words, 17 characters').first().waitFor();
  expect(await copilot.questions.nth(1).textContent()).toContain('text: Three small words');
});

test('what is typed into a card is there after a look at another session', async ({ visitor }) => {
  const copilot = await Copilot.open(visitor);
  await copilot.ask('/tool run_agent {"username_agent_slug":"pilothouse/text-in-numbers"}');
  const field = copilot.answers.first().getByLabel('Text');
  await field.fill('Half a thought');
  await copilot.page.getByRole('link', { name: 'New chat' }).first().click();
  await copilot.answers.first().waitFor({ state: 'detached' });
  await copilot.page.goBack();
  await field.waitFor();
  expect(await field.inputValue()).toBe('Half a thought');
});
