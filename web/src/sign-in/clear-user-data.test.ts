import { afterEach, expect, test } from 'vitest';
import type { Credential } from '@/api/identity';
import { draftOf, putDraft, startSending } from '@/copilot/composer/drafts';
import { clearUserData, isSameUser } from './clear-user-data';

afterEach(() => sessionStorage.clear());

const token = (claims: object): Credential => ({
  kind: 'token',
  value: `head.${btoa(JSON.stringify(claims))}.signature`,
});

test('drafts and messages being sent are removed, also after a reload', () => {
  putDraft(null, 'a secret');
  putDraft('session-1', 'another');
  startSending('session-1');
  sessionStorage.setItem('pilothouse.draft.session-2', 'from before the last reload');
  clearUserData();
  expect([draftOf(null), draftOf('session-1'), draftOf('session-2')]).toEqual(['', '', '']);
  expect(Object.keys(sessionStorage).filter((key) => key.includes('draft'))).toEqual([]);
});

test('a renewed token is the same user; another subject or another key may be another user', () => {
  const before = token({ sub: 'ana', exp: 1 });
  expect(isSameUser(before, token({ sub: 'ana', exp: 2 }))).toBe(true);
  expect(isSameUser(before, token({ sub: 'ben', exp: 2 }))).toBe(false);
  expect(isSameUser(token({}), token({ exp: 2 }))).toBe(false);
  expect(isSameUser({ kind: 'api_key', value: 'one' }, { kind: 'api_key', value: 'two' })).toBe(false);
  expect(isSameUser(null, before)).toBe(false);
});
