import { expect, test } from 'vitest';
import { parseFailure } from './turn-failure';

test('the code is split from the message', () => {
  expect(parseFailure('[code:idle_timeout] The model\nsaid nothing.')).toEqual({
    code: 'idle_timeout',
    message: 'The model\nsaid nothing.',
  });
});

test('a message without a code is kept as it is', () => {
  expect(parseFailure('It broke.')).toEqual({ code: null, message: 'It broke.' });
});

test('an error without a message gets a default one', () => {
  expect(parseFailure('[code:internal_error] ').message).not.toBe('');
  expect(parseFailure('').message).not.toBe('');
});
