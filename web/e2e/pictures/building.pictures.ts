// Takes the picture of an agent that the copilot builds from a sentence, without a model.

import { Copilot } from '../copilot/copilot';
import { test } from '../harness';
import { take } from './take';

test('an agent from a sentence', async ({ newVisitor }) => {
  const copilot = await Copilot.open(
    await newVisitor({ viewport: { width: 1280, height: 1000 }, colorScheme: 'dark' }),
  );
  const { page } = copilot;
  await copilot.send('Build an agent that totals an invoice and asks me before sending it');
  await page.getByRole('textbox', { name: /web address/ }).fill('https://example.org/invoices');
  await page.getByRole('button', { name: 'Send answer' }).click();
  const graph = page.getByRole('group', { name: 'Graph of Invoice total' });
  await graph.getByRole('group').first().waitFor();
  await copilot.waitUntilIdle();
  await take(page, 'building');
});
