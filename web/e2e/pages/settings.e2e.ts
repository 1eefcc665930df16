import { expect, test } from '../harness';
import { requestJson } from '../harness/requests';

test('a new key is shown once, works, and can be revoked', async ({ visitor, server }) => {
  const page = await visitor.open('/settings');
  await page.getByRole('button', { name: 'New key' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Nightly reports');
  await page.getByRole('button', { name: 'Create key' }).click();
  const key = await page.getByRole('dialog').locator('code').textContent();
  const { api_keys } = await requestJson<{ api_keys: { name: string; head: string }[] }>(server, '/api-keys');
  const stored = api_keys.find(({ name }) => name === 'Nightly reports');
  expect(key?.startsWith(stored?.head ?? '?')).toBe(true);
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByText('Nightly reports').waitFor();
  expect(await page.content()).not.toContain(key ?? '?');
  await page.getByRole('button', { name: 'Revoke Nightly reports' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('button', { name: 'Revoke Nightly reports' }).waitFor({ state: 'detached' });
});

test('a chosen theme is saved and applied from the first paint', async ({ visitor }) => {
  const page = await visitor.open('/settings');
  await page.getByRole('radio', { name: 'Dark' }).check();
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  await expect.poll(theme).toBe('dark');
  await page.reload({ waitUntil: 'commit' });
  await expect.poll(theme).toBe('dark');
});

test('the usage of a turn is counted', async ({ visitor, server }) => {
  const { id } = await requestJson<{ id: string }>(server, '/chat/sessions', {});
  const turn = await fetch(`${server.url}/api/chat/sessions/${id}/stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ message: '/help' }),
  });
  await turn.text();
  const page = await visitor.open('/settings#usage');
  const usage = page.getByRole('region', { name: 'Usage' });
  const { today } = await requestJson<{ today: { turns: number } }>(server, '/chat/usage');
  expect(today.turns).toBeGreaterThan(0);
  await usage
    .getByText(today.turns === 1 ? '1 response' : `${today.turns} responses`)
    .first()
    .waitFor();
  await usage.getByText('View as table').click();
  expect(await usage.getByRole('row').count()).toBe(31);
});

test('a server without credits shows no credits section', async ({ visitor }) => {
  const page = await visitor.open('/settings');
  await page.getByText('Runs are free').waitFor();
  expect(await page.getByRole('region', { name: 'Credits' }).count()).toBe(0);
});
