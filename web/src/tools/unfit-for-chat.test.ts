import { expect, test } from 'vitest';
import { unfitForChat } from './unfit-for-chat';

function inputs(...fields: unknown[]) {
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field, place) => [`f${place}`, field])),
  };
}

test('plain inputs can be sent', () => {
  expect(unfitForChat(inputs({ type: 'string', secret: false }, { type: 'number' }))).toBeNull();
  expect(unfitForChat(null)).toBeNull();
});

test.each([
  { type: 'string', secret: true },
  { type: 'string', format: 'password' },
  { type: 'integer', secret: true },
  { secret: true },
])('a secret cannot: %o', (field) => {
  expect(unfitForChat(inputs({ type: 'string' }, field))).toBe('secret');
});

test('a file cannot, also where it may be left out', () => {
  expect(unfitForChat(inputs({ type: ['string', 'null'], format: 'file', default: null }))).toBe('file');
});
