import { expect, test } from '../harness';

const OPERATOR_KEY = 'the internal key of the operator';

test.override('settings', { CREDITS_ENABLED: 'on', CHAT_INTERNAL_API_KEY: OPERATOR_KEY });

test('the balance and the ledger are shown when credits are enabled', async ({ visitor, server }) => {
  const grant = await fetch(`${server.url}/api/credits/grant`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': OPERATOR_KEY },
    body: JSON.stringify({ user_id: 'local', amount: 1200, key: 'first', description: 'Welcome' }),
  });
  const { credits } = (await grant.json()) as { credits: number };
  const page = await visitor.open('/settings');
  const section = page.getByRole('region', { name: 'Credits' });
  // The ledger has the same number in its balance column.
  await section.getByText(`${credits.toLocaleString('en-GB')} credits left`, { exact: true }).waitFor();
  expect(await section.getByRole('row', { name: /Welcome.*\+1,200/ }).count()).toBe(1);
});
