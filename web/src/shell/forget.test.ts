import { afterEach, expect, test } from 'vitest';
import type { Credential } from '@/api/identity';
import { draftOf, putDraft, sendOff } from '@/copilot/composer/drafts';
import { forgetPerson, isSamePerson } from './forget';

afterEach(() => sessionStorage.clear());

const token = (claims: object): Credential => ({
  kind: 'token',
  value: `head.${btoa(JSON.stringify(claims))}.signature`,
});

test('what somebody has written or sent off is gone with them, also after a reload', () => {
  putDraft(null, 'a secret');
  putDraft('session-1', 'another');
  sendOff('session-1');
  sessionStorage.setItem('pilothouse.draft.session-2', 'from before the last reload');
  forgetPerson();
  expect([draftOf(null), draftOf('session-1'), draftOf('session-2')]).toEqual(['', '', '']);
  expect(Object.keys(sessionStorage).filter((key) => key.includes('draft'))).toEqual([]);
});

test('a renewed token is the same person; another subject, and another key, may be somebody else', () => {
  const before = token({ sub: 'ana', exp: 1 });
  expect(isSamePerson(before, token({ sub: 'ana', exp: 2 }))).toBe(true);
  expect(isSamePerson(before, token({ sub: 'ben', exp: 2 }))).toBe(false);
  expect(isSamePerson(token({}), token({ exp: 2 }))).toBe(false);
  expect(isSamePerson({ kind: 'api_key', value: 'one' }, { kind: 'api_key', value: 'two' })).toBe(false);
  expect(isSamePerson(null, before)).toBe(false);
});
