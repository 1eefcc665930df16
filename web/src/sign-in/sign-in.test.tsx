import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { credential, requireSignIn, signOut, useIdentity } from '@/api/identity';
import { noConnection, refusal, serve, show } from '@/testing/fake-server';
import { SignIn } from './sign-in';

const LIST = 'GET /api/chat/sessions';
const ABOUT = 'GET /api/about';
const SIGN_IN_REQUIRED = { auth_mode: 'jwt', allow_anonymous: false };

afterEach(() => {
  signOut();
  vi.unstubAllGlobals();
});

async function submit(text: string) {
  await userEvent.type(screen.getByLabelText('Token or API key'), text);
  await userEvent.click(screen.getByRole('button', { name: 'Sign in' }));
}

test('an accepted token is kept for this tab', async () => {
  const asked = serve({ [ABOUT]: () => SIGN_IN_REQUIRED, [LIST]: () => ({ sessions: [], total: 0 }) });
  show(<SignIn />);
  await submit('Bearer aaa.bbb.ccc');
  expect(credential()).toEqual({ kind: 'token', value: 'aaa.bbb.ccc' });
  expect(sessionStorage.getItem('pilothouse.credential')).toContain('aaa.bbb.ccc');
  expect(asked.find(({ route }) => route === LIST)?.headers.get('authorization')).toBe('Bearer aaa.bbb.ccc');
});

test('an API key is sent in the x-api-key header', async () => {
  const asked = serve({ [ABOUT]: () => SIGN_IN_REQUIRED, [LIST]: () => ({ sessions: [], total: 0 }) });
  show(<SignIn />);
  await submit('ph_0123456789');
  expect(asked.find(({ route }) => route === LIST)?.headers.get('x-api-key')).toBe('ph_0123456789');
});

test.each([
  ['aaa.bbb.ccc', () => refusal(401, 'UNAUTHENTICATED', 'Expired.'), /That token isn't valid.*Expired/],
  ['wrong-key', () => refusal(401, 'UNAUTHENTICATED', 'No such key.'), /That key isn't valid/],
  ['aaa.bbb.ccc', noConnection, /Can't reach the server/],
  ['ключ', () => ({}), /characters that tokens/],
])('%s: an error is shown, and nothing is kept', async (text, respond, message) => {
  serve({ [ABOUT]: () => SIGN_IN_REQUIRED, [LIST]: respond });
  show(<SignIn />);
  await submit(text);
  expect((await screen.findByRole('alert')).textContent).toMatch(message);
  expect(credential()).toBeNull();
});

test('an empty field shows an error', async () => {
  serve({ [ABOUT]: () => SIGN_IN_REQUIRED });
  show(<SignIn />);
  await userEvent.click(screen.getByRole('button', { name: 'Sign in' }));
  expect(screen.getByRole('alert').textContent).toBe('Paste a token or API key.');
});

function Wanted() {
  return useIdentity().wanted && 'asked for';
}

test('a server that allows anonymous users can be used without signing in', async () => {
  serve({ [ABOUT]: () => ({ auth_mode: 'jwt', allow_anonymous: true }) });
  requireSignIn();
  show(
    <>
      <SignIn />
      <Wanted />
    </>,
  );
  expect(screen.getByText('asked for')).toBeTruthy();
  await userEvent.click(await screen.findByRole('button', { name: 'Continue without signing in' }));
  expect(credential()).toBeNull();
  expect(screen.queryByText('asked for')).toBeNull();
});

test('a server that requires sign-in cannot', async () => {
  const asked = serve({ [ABOUT]: () => SIGN_IN_REQUIRED });
  show(<SignIn />);
  await vi.waitFor(() => expect(asked).toHaveLength(1));
  expect(screen.queryByRole('button', { name: 'Continue without signing in' })).toBeNull();
});
