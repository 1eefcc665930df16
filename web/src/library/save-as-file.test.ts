import { expect, it } from 'vitest';
import { fileName } from './save-as-file';

it('makes names that are valid on every file system', () => {
  expect(fileName('Price / watch: "daily"?.json')).toBe('Price watch daily .json');
  expect(fileName('a\u0000b\n.json')).toBe('a b .json');
  expect(fileName('../../etc')).toBe('.. .. etc');
  expect(fileName('///')).toBe('file');
  expect(fileName(`${'x'.repeat(300)}.json`).endsWith('.json')).toBe(true);
});
