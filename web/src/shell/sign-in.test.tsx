import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { credential, credentialWanted, signOut, useIdentity } from '@/api/identity';
import { noConnection, refusal, serve, show } from '@/testing/fake-server';
import { SignIn } from './sign-in';

const LIST = 'GET /api/chat/sessions';
const ABOUT = 'GET /api/about';
const CLOSED = { auth_mode: 'jwt', allow_anonymous: false };

afterEach(() => {
  signOut();
  vi.unstubAllGlobals();
});

async function give(text: string) {
  await userEvent.type(screen.getByLabelText('Token or API key'), text);
  await userEvent.click(screen.getByRole('button', { name: 'Sign in' }));
}

test('a token that is accepted is kept for this tab', async () => {
  const asked = serve({ [ABOUT]: () => CLOSED, [LIST]: () => ({ sessions: [], total: 0 }) });
  show(<SignIn />);
  await give('Bearer aaa.bbb.ccc');
  expect(credential()).toEqual({ kind: 'token', value: 'aaa.bbb.ccc' });
  expect(sessionStorage.getItem('pilothouse.credential')).toContain('aaa.bbb.ccc');
  expect(asked.find(({ route }) => route === LIST)?.headers.get('authorization')).toBe('Bearer aaa.bbb.ccc');
});

test('a key goes as a key', async () => {
  const asked = serve({ [ABOUT]: () => CLOSED, [LIST]: () => ({ sessions: [], total: 0 }) });
  show(<SignIn />);
  await give('ph_0123456789');
  expect(asked.find(({ route }) => route === LIST)?.headers.get('x-api-key')).toBe('ph_0123456789');
});

test.each([
  ['aaa.bbb.ccc', () => refusal(401, 'UNAUTHENTICATED', 'Expired.'), /does not accept this token.*Expired/],
  ['wrong-key', () => refusal(401, 'UNAUTHENTICATED', 'No such key.'), /does not know this key/],
  ['aaa.bbb.ccc', noConnection, /cannot be reached/],
  ['ключ', () => ({}), /characters that no token/],
])('%s: what is wrong is said, and nothing is kept', async (text, answer, words) => {
  serve({ [ABOUT]: () => CLOSED, [LIST]: answer });
  show(<SignIn />);
  await give(text);
  expect((await screen.findByRole('alert')).textContent).toMatch(words);
  expect(credential()).toBeNull();
});

test('nothing given is asked for', async () => {
  serve({ [ABOUT]: () => CLOSED });
  show(<SignIn />);
  await userEvent.click(screen.getByRole('button', { name: 'Sign in' }));
  expect(screen.getByRole('alert').textContent).toBe('Paste a token or a key.');
});

function Wanted() {
  return useIdentity().wanted && 'asked for';
}

test('a server that is open to anybody lets one go on without', async () => {
  serve({ [ABOUT]: () => ({ auth_mode: 'jwt', allow_anonymous: true }) });
  credentialWanted();
  show(
    <>
      <SignIn />
      <Wanted />
    </>,
  );
  expect(screen.getByText('asked for')).toBeTruthy();
  await userEvent.click(await screen.findByRole('button', { name: 'Continue without' }));
  expect(credential()).toBeNull();
  expect(screen.queryByText('asked for')).toBeNull();
});

test('a closed server does not', async () => {
  const asked = serve({ [ABOUT]: () => CLOSED });
  show(<SignIn />);
  await vi.waitFor(() => expect(asked).toHaveLength(1));
  expect(screen.queryByRole('button', { name: 'Continue without' })).toBeNull();
});
