import { expect, test } from 'vitest';
import { failureOf } from './failure';

test('the code is split from the words', () => {
  expect(failureOf('[code:idle_timeout] The model\nsaid nothing.')).toEqual({
    code: 'idle_timeout',
    message: 'The model\nsaid nothing.',
  });
});

test('words without a code are kept as they are', () => {
  expect(failureOf('It broke.')).toEqual({ code: null, message: 'It broke.' });
});

test('an error without words has some nevertheless', () => {
  expect(failureOf('[code:internal_error] ').message).not.toBe('');
  expect(failureOf('').message).not.toBe('');
});
