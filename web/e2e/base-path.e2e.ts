// The page under a path of its host, as behind a proxy.

import { expect, test } from './harness';

test.override('settings', { BASE_PATH: '/pilot' });

test('under a base path every page can be opened, left by a link and reloaded', async ({ visitor }) => {
  const page = await visitor.open('/pilot');
  await page.waitForURL('**/pilot/copilot');
  for (const name of ['Library', 'Reviews', 'Settings']) {
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click();
    await page.waitForURL(`**/pilot/${name.toLowerCase()}`);
    await page.reload();
    await page.getByRole('heading', { name, level: 1 }).waitFor();
  }
});

test('under a base path a message gets a response and its URL can be reopened', async ({ visitor }) => {
  const page = await visitor.open('/pilot/copilot');
  const field = page.getByRole('form', { name: 'Message' }).getByRole('textbox');
  await field.fill('/stream count=3 size=20');
  await field.press('Enter');
  const answer = page.getByTestId('assistant-message');
  await answer.getByText('The tide comes in').waitFor();
  await expect.poll(() => page.url()).toContain('/pilot/copilot?sessionId=');
  await page.reload();
  await answer.getByText('The tide comes in').waitFor();
});
