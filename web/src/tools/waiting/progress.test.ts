import { expect, test } from 'vitest';
import { progressAfter } from './progress';

test('progress is half after 30 seconds, and three quarters after 60', () => {
  expect(progressAfter(30_000)).toBeCloseTo(0.5);
  expect(progressAfter(60_000)).toBeCloseTo(0.75);
});

test('progress only grows and never reaches 1', () => {
  let before = -1;
  for (let seconds = 0; seconds < 150; seconds++) {
    const now = progressAfter(seconds * 1000);
    expect(now).toBeGreaterThan(before);
    before = now;
  }
  expect(progressAfter(86_400_000)).toBeLessThan(1);
});

test('progress is 0 before the start', () => {
  for (const never of [0, -5_000, Number.NaN]) expect(progressAfter(never)).toBe(0);
});
