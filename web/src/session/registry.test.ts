import { afterEach, expect, test } from 'vitest';
import { discardAllSessions, discardSession, runtimeOf } from './registry';

afterEach(discardAllSessions);

test('a session keeps its runtime when it is left and reopened', () => {
  expect(runtimeOf('a')).toBe(runtimeOf('a'));
  expect(runtimeOf(null)).toBe(runtimeOf(null));
});

test('a deleted session gets a new runtime', () => {
  const before = runtimeOf('a');
  discardSession('a');
  expect(runtimeOf('a')).not.toBe(before);
});

test('signing out discards all runtimes', () => {
  const before = [runtimeOf('a'), runtimeOf('b'), runtimeOf(null)];
  discardAllSessions();
  const after = [runtimeOf('a'), runtimeOf('b'), runtimeOf(null)];
  for (const [at, runtime] of after.entries()) expect(runtime).not.toBe(before[at]);
});
