import { afterEach, expect, test } from 'vitest';
import { forgetAll, forgetSession, runtimeOf } from './registry';

afterEach(forgetAll);

test('a conversation that was left is the same when one comes back', () => {
  expect(runtimeOf('a')).toBe(runtimeOf('a'));
  expect(runtimeOf(null)).toBe(runtimeOf(null));
});

test('a deleted session is forgotten', () => {
  const before = runtimeOf('a');
  forgetSession('a');
  expect(runtimeOf('a')).not.toBe(before);
});

test('whoever signs out leaves no conversation behind', () => {
  const before = [runtimeOf('a'), runtimeOf('b'), runtimeOf(null)];
  forgetAll();
  const after = [runtimeOf('a'), runtimeOf('b'), runtimeOf(null)];
  for (const [at, runtime] of after.entries()) expect(runtime).not.toBe(before[at]);
});
