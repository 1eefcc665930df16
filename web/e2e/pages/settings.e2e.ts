import { expect, test } from '../harness';
import { call } from '../harness/call';

test('a new key works, is shown once, and no more once it is revoked', async ({ visitor, server }) => {
  const page = await visitor.open('/settings');
  await page.getByRole('button', { name: 'New key' }).click();
  await page.getByLabel('What is it for?').fill('Nightly reports');
  await page.getByRole('button', { name: 'Make the key' }).click();
  const key = await page.getByRole('dialog').locator('code').textContent();
  const { api_keys } = await call<{ api_keys: { name: string; head: string }[] }>(server, '/api-keys');
  const kept = api_keys.find(({ name }) => name === 'Nightly reports');
  expect(key?.startsWith(kept?.head ?? '?')).toBe(true);
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByText('Nightly reports').waitFor();
  expect(await page.content()).not.toContain(key ?? '?');
  await page.getByRole('button', { name: 'Revoke Nightly reports' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('button', { name: 'Revoke Nightly reports' }).waitFor({ state: 'detached' });
});

test('a theme that was chosen is kept, and drawn from the first moment', async ({ visitor }) => {
  const page = await visitor.open('/settings');
  await page.getByRole('radio', { name: 'Dark' }).check();
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  await expect.poll(theme).toBe('dark');
  await page.reload({ waitUntil: 'commit' });
  await expect.poll(theme).toBe('dark');
});

test('what a turn has used is counted', async ({ visitor, server }) => {
  const { id } = await call<{ id: string }>(server, '/chat/sessions', {});
  const turn = await fetch(`${server.url}/api/chat/sessions/${id}/stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ message: '/help' }),
  });
  await turn.text();
  const page = await visitor.open('/settings#usage');
  const usage = page.getByRole('region', { name: 'Usage' });
  const { today } = await call<{ today: { turns: number } }>(server, '/chat/usage');
  expect(today.turns).toBeGreaterThan(0);
  await usage
    .getByText(today.turns === 1 ? '1 turn' : `${today.turns} turns`)
    .first()
    .waitFor();
  await usage.getByText('The numbers as a table').click();
  expect(await usage.getByRole('row').count()).toBe(31);
});

test('a server where nothing costs anything shows no credits', async ({ visitor }) => {
  const page = await visitor.open('/settings');
  await page.getByText('Runs cost nothing').waitFor();
  expect(await page.getByRole('region', { name: 'Credits' }).count()).toBe(0);
});
