import { afterEach, expect, test } from 'vitest';
import { clearDrafts, confirmSent, draftOf, putDraft, restoreDraft, startSending } from './drafts';

const HERE = 'session-1';
const stored = () => sessionStorage.getItem(`pilothouse.draft.${HERE}`);

afterEach(clearDrafts);

function send(text: string) {
  putDraft(HERE, text);
  return startSending(HERE);
}

test('two refused texts are both restored', () => {
  const [first, second] = [send('first'), send('second')];
  expect(stored(), 'a reload would give both back').toBe('first\n\nsecond');
  restoreDraft(second, HERE);
  restoreDraft(first, HERE);
  expect(draftOf(HERE)).toBe('first\n\nsecond');
});

test('confirming one text keeps the other', () => {
  const [first, second] = [send('first'), send('second')];
  confirmSent(first);
  expect(stored()).toBe('second');
  restoreDraft(second, HERE);
  expect(draftOf(HERE)).toBe('second');
});

test('a refused text goes before newer text, in the session that was created meanwhile', () => {
  putDraft(null, 'question');
  const sent = startSending(null);
  putDraft(HERE, 'more');
  restoreDraft(sent, HERE);
  expect(draftOf(HERE)).toBe('question\n\nmore');
  expect(draftOf(null)).toBe('');
});
