import type { Page } from 'playwright-core';
import { expect, test } from '../harness';
import { addExample, ended, rejectAll, run } from './agents';

/** The review of the letter to this recipient. */
function letterTo(page: Page, recipient: string) {
  return page.getByRole('group', { name: /^Read the letter/ }).filter({ hasText: `Dear ${recipient}` });
}

test('without pending reviews the page is empty', async ({ visitor, server }) => {
  await rejectAll(server);
  const page = await visitor.open('/reviews');
  await page.getByText('All caught up').waitFor();
});

test('a letter is edited and approved, and the run continues with the change', async ({
  visitor,
  server,
}) => {
  const agent = await addExample(server, 'approval-letter');
  const id = await run(server, agent, { recipient: 'Ms Ito' });
  const page = await visitor.open('/reviews');
  await page.getByRole('heading', { name: 'Approval letter' }).waitFor();
  await page.getByRole('link', { name: /Reviews.* pending/ }).waitFor();
  await letterTo(page, 'Ms Ito').getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Content').fill('Dear Ms Ito, berth 15 is yours.');
  const review = letterTo(page, 'Ms Ito');
  await review.getByLabel('Comment (optional)').fill('The other berth.');
  await review.getByRole('button', { name: 'Approve with changes' }).click();
  await review.waitFor({ state: 'detached' });
  const { status, outputs } = await ended(server, agent, id);
  expect(status).toBe('COMPLETED');
  expect(outputs.letter).toEqual(['Dear Ms Ito, berth 15 is yours.']);
  expect(outputs.remark).toEqual(['The other berth.']);
});

test('a rejected letter is not sent', async ({ visitor, server }) => {
  const agent = await addExample(server, 'approval-letter');
  const id = await run(server, agent, { recipient: 'Mr Okafor' });
  const page = await visitor.open('/reviews');
  await letterTo(page, 'Mr Okafor').getByRole('button', { name: 'Reject' }).click();
  await letterTo(page, 'Mr Okafor').waitFor({ state: 'detached' });
  const { outputs } = await ended(server, agent, id);
  expect(outputs.letter).toBeUndefined();
  expect(outputs.rejected_letter).toHaveLength(1);
});

test('a review decided in one tab disappears from the other', async ({ visitor, server }) => {
  const agent = await addExample(server, 'approval-letter');
  await run(server, agent, { recipient: 'Ms Silva' });
  const [first, second] = [await visitor.open('/reviews'), await visitor.open('/reviews')];
  await letterTo(second, 'Ms Silva').waitFor();
  await letterTo(first, 'Ms Silva').getByRole('button', { name: 'Approve', exact: true }).click();
  await letterTo(second, 'Ms Silva').waitFor({ state: 'detached' });
});

test('a review can be decided by keyboard without losing the focus', async ({ visitor, server }) => {
  const agent = await addExample(server, 'approval-letter');
  await run(server, agent, { recipient: 'Mx Dahl' });
  const page = await visitor.open('/reviews');
  const review = letterTo(page, 'Mx Dahl');
  await review.getByLabel('Comment (optional)').focus();
  // Skips the auto-approve checkbox.
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await review.waitFor({ state: 'detached' });
  expect(await page.evaluate(() => document.activeElement?.closest('main') !== null)).toBe(true);
});
