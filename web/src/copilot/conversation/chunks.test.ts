import { expect, test } from 'vitest';
import { userMessage } from '@/session/history';
import { chunked } from './chunks';

const messages = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => userMessage(`m${from + at}`, 'x'));
const ids = (chunks: { messages: { id: string }[] }[]) =>
  chunks.flatMap((chunk) => chunk.messages.map((message) => message.id));

test('every message is in one group, in order', () => {
  const all = messages(1, 50);
  expect(ids(chunked([], all))).toEqual(all.map((message) => message.id));
});

test('a message that is added at the end changes the last group only', () => {
  const all = messages(1, 30);
  const before = chunked([], all);
  const after = chunked(before, [...all, ...messages(31, 31)]);
  expect(after.slice(0, -1)).toEqual(before.slice(0, -1));
  after.slice(0, -1).forEach((chunk, index) => {
    expect(chunk).toBe(before[index]);
  });
});

test('earlier messages come in groups of their own, and leave the others alone', () => {
  const all = messages(20, 50);
  const before = chunked([], all);
  const after = chunked(before, [...messages(1, 19), ...all]);
  expect(ids(after)).toHaveLength(50);
  expect(after.slice(-before.length)).toEqual(before);
  expect(after.at(-1)).toBe(before.at(-1));
});

test('a message that was replaced makes its group another object', () => {
  const all = messages(1, 30);
  const before = chunked([], all);
  const after = chunked(before, all.with(29, userMessage('m30', 'y')));
  expect(after.at(-1)).not.toBe(before.at(-1));
  expect(after[0]).toBe(before[0]);
});
