import { afterEach, expect, it, vi } from 'vitest';
import { fileName, saveFile } from './save-file';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

it('makes names that are valid on every file system', () => {
  expect(fileName('Price / watch: "daily"?.json')).toBe('Price watch daily .json');
  expect(fileName('a\u0000b\n.json')).toBe('a b .json');
  expect(fileName('../../etc')).toBe('.. .. etc');
  expect(fileName('///')).toBe('file');
  expect(fileName(`${'x'.repeat(300)}.json`).endsWith('.json')).toBe(true);
});

it('keeps the URL of the data until the browser has certainly started the download', () => {
  vi.useFakeTimers();
  const revoke = vi.spyOn(URL, 'revokeObjectURL');
  saveFile('a.txt', new Blob(['a']));
  vi.advanceTimersByTime(59_000);
  expect(revoke).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1_000);
  expect(revoke).toHaveBeenCalledOnce();
});
