import { expect, test } from 'vitest';
import { readToken } from './token';

const tokenOf = (claims: unknown) => {
  const bytes = new TextEncoder().encode(JSON.stringify(claims));
  const body = btoa(String.fromCharCode(...bytes))
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=+$/, '');
  return `e30.${body}.signature`;
};

test('the subject, name and expiry of a token are read', () => {
  expect(readToken(tokenOf({ sub: 'u-1', email: 'zoë@harbour.example', exp: 1_800_000_000 }))).toEqual({
    subject: 'u-1',
    name: 'zoë@harbour.example',
    expires: '2027-01-15T08:00:00.000Z',
  });
});

test.each(['', 'no token', 'a.b.c', 'e30.W10.x', tokenOf(null)])('%j has no claims', (token) => {
  expect(readToken(token)).toEqual({ subject: null, name: null, expires: null });
});
