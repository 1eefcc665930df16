import { afterEach, expect, test } from 'vitest';
import { arrived, bringBack, draftOf, forgetDrafts, putDraft, sendOff } from './drafts';

const HERE = 'session-1';
const stored = () => sessionStorage.getItem(`pilothouse.draft.${HERE}`);

afterEach(forgetDrafts);

function send(text: string) {
  putDraft(HERE, text);
  return sendOff(HERE);
}

test('two texts on their way are both given back', () => {
  const [first, second] = [send('first'), send('second')];
  expect(stored(), 'a reload would give both back').toBe('first\n\nsecond');
  bringBack(second, HERE);
  bringBack(first, HERE);
  expect(draftOf(HERE)).toBe('first\n\nsecond');
});

test('one that arrives takes nothing of the other with it', () => {
  const [first, second] = [send('first'), send('second')];
  arrived(first);
  expect(stored()).toBe('second');
  bringBack(second, HERE);
  expect(draftOf(HERE)).toBe('second');
});

test('what was refused goes before what was written since, in the session it has become', () => {
  putDraft(null, 'question');
  const sent = sendOff(null);
  putDraft(HERE, 'more');
  bringBack(sent, HERE);
  expect(draftOf(HERE)).toBe('question\n\nmore');
  expect(draftOf(null)).toBe('');
});
