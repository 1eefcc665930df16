import { expect, test } from 'vitest';
import { amount, duration } from './format';

test.each([
  [40, '< 0.1 s'],
  [400, '0.4 s'],
  [9_960, '10 s'],
  [12_000, '12 s'],
  [59_700, '1 min 0 s'],
  [119_700, '2 min 0 s'],
  [185_000, '3 min 5 s'],
  [3_599_900, '1 h 0 min'],
  [3_720_000, '1 h 2 min'],
])('%d ms are formatted as %s', (ms, expected) => {
  expect(duration(ms)).toBe(expected);
});

test('an amount has the plural of its noun, except for one', () => {
  expect([0, 1, 2000].map((number) => amount(number, 'step'))).toEqual(['0 steps', '1 step', '2,000 steps']);
});
