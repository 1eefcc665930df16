import { createHmac } from 'node:crypto';
import { expect, test } from '../harness';

const SECRET = 'a secret of at least thirty-two bytes';

const OPERATOR_KEY = 'the internal key of the operator';

test.override('settings', {
  AUTH_MODE: 'jwt',
  JWT_VERIFY_KEY: SECRET,
  CHAT_INTERNAL_API_KEY: OPERATOR_KEY,
});

/** A token as an identity provider would issue it. */
function tokenOf(sub: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { sub, email: `${sub}@harbour.example`, aud: 'authenticated', exp: Date.now() / 1000 + 600 };
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ ...claims, exp: Math.floor(claims.exp) })}`;
  return `${signed}.${createHmac('sha256', SECRET).update(signed).digest('base64url')}`;
}

/** Console message of the browser for a 401 response. */
const NOT_SIGNED_IN = /status of 401/;

test('a server with sign-in asks for a token, accepts it, and forgets it after sign-out', async ({
  visitor,
}) => {
  visitor.expectErrors(NOT_SIGNED_IN);
  const page = await visitor.open('/settings');
  await page.getByLabel(/token/i).fill(tokenOf('ada'));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('ada@harbour.example').waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel(/token/i).waitFor();
  expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }))).not.toContain(
    'eyJ',
  );
});

test('the operations page asks for the internal key and rejects a wrong one', async ({ visitor }) => {
  visitor.expectErrors(NOT_SIGNED_IN);
  const page = await visitor.open('/ops');
  await page.getByLabel('Internal key').fill('wrong');
  await page.keyboard.press('Enter');
  await page.getByText("That key isn't valid.").waitFor();
  await page.getByLabel('Internal key').fill(OPERATOR_KEY);
  await page.keyboard.press('Enter');
  await page.getByText('Active responses', { exact: true }).waitFor();
});
