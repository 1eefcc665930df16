import { expect, test } from 'vitest';
import { unsendableInput } from './unsendable-input';

function inputs(...fields: unknown[]) {
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field, index) => [`f${index}`, field])),
  };
}

test('plain inputs can be sent in a message', () => {
  expect(unsendableInput(inputs({ type: 'string', secret: false }, { type: 'number' }))).toBeNull();
  expect(unsendableInput(null)).toBeNull();
});

test.each([
  { type: 'string', secret: true },
  { type: 'string', format: 'password' },
  { type: 'integer', secret: true },
  { secret: true },
])('a secret cannot be sent: %o', (field) => {
  expect(unsendableInput(inputs({ type: 'string' }, field))).toBe('secret');
});

test('a file cannot be sent, not even an optional one', () => {
  expect(unsendableInput(inputs({ type: ['string', 'null'], format: 'file', default: null }))).toBe('file');
});
