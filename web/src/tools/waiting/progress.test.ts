import { expect, test } from 'vitest';
import { progressAfter } from './progress';

test('half of the way is gone after thirty seconds, and half of the rest after thirty more', () => {
  expect(progressAfter(30_000)).toBeCloseTo(0.5);
  expect(progressAfter(60_000)).toBeCloseTo(0.75);
});

test('it only ever grows, and never arrives', () => {
  let before = -1;
  for (let seconds = 0; seconds < 150; seconds++) {
    const now = progressAfter(seconds * 1000);
    expect(now).toBeGreaterThan(before);
    before = now;
  }
  expect(progressAfter(86_400_000)).toBeLessThan(1);
});

test('what has not begun, or began in the future, has made no progress', () => {
  for (const never of [0, -5_000, Number.NaN]) expect(progressAfter(never)).toBe(0);
});
