import { expect, test } from 'vitest';
import { NO_ROWS, withNewest, withOlder, withReread } from './history-rows';
import { row } from './testing/scripted-server';

const page = (from: number, to: number, has_more_messages = from > 1) => ({
  messages: Array.from({ length: to - from + 1 }, (_, at) => row(from + at, 'user')),
  has_more_messages,
  oldest_sequence: from,
});
const sequences = (rows: { list: { sequence: number }[] }) => rows.list.map((one) => one.sequence);

test('an older page goes before the loaded rows, without duplicates', () => {
  const rows = withOlder(withNewest(NO_ROWS, page(5, 7)), page(2, 5));
  expect(sequences(rows)).toEqual([2, 3, 4, 5, 6, 7]);
  expect(rows.hasOlder).toBe(true);
});

test('the newest page replaces everything from its first row on and keeps the older rows', () => {
  const before = withOlder(withNewest(NO_ROWS, page(5, 7)), page(2, 4));
  const again = { ...page(6, 6), messages: [row(6, 'user', { content: 'new' })] };
  const rows = withNewest(before, again);
  expect(sequences(rows)).toEqual([2, 3, 4, 5, 6]);
  expect(rows.list.at(-1)?.content).toBe('new');
});

test('a newest page that does not adjoin the loaded rows replaces them, so that no gap is hidden', () => {
  const rows = withNewest(withNewest(NO_ROWS, page(1, 3)), page(9, 12));
  expect(sequences(rows)).toEqual([9, 10, 11, 12]);
  expect(rows.hasOlder).toBe(true);
});

test('an unchanged row stays the same object', () => {
  const before = withNewest(NO_ROWS, page(1, 3));
  const after = withNewest(before, page(1, 4));
  expect(after.list[0]).toBe(before.list[0]);
});

test('rereading a page updates only loaded rows', () => {
  const before = withNewest(NO_ROWS, page(5, 6));
  const rows = withReread(before, {
    ...page(4, 5),
    messages: [row(4, 'user'), row(5, 'tool', { content: 'result' })],
  });
  expect(rows.list.map(({ sequence, content }) => [sequence, content])).toEqual([
    [5, 'result'],
    [6, ''],
  ]);
});
