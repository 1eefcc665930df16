import { expect, test } from 'vitest';
import { userMessage } from '@/session/history';
import { groupMessages } from './message-groups';

const messages = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => userMessage(`m${from + at}`, 'x'));
const ids = (groups: { messages: { id: string }[] }[]) =>
  groups.flatMap((group) => group.messages.map((message) => message.id));

test('every message is in one group, in order', () => {
  const all = messages(1, 50);
  expect(ids(groupMessages([], all))).toEqual(all.map((message) => message.id));
});

test('appending a message changes the last group only', () => {
  const all = messages(1, 30);
  const before = groupMessages([], all);
  const after = groupMessages(before, [...all, ...messages(31, 31)]);
  expect(after.slice(0, -1)).toEqual(before.slice(0, -1));
  after.slice(0, -1).forEach((group, index) => {
    expect(group).toBe(before[index]);
  });
});

test('earlier messages form new groups, and the others stay unchanged', () => {
  const all = messages(20, 50);
  const before = groupMessages([], all);
  const after = groupMessages(before, [...messages(1, 19), ...all]);
  expect(ids(after)).toHaveLength(50);
  expect(after.slice(-before.length)).toEqual(before);
  expect(after.at(-1)).toBe(before.at(-1));
});

test('replacing a message creates a new group object', () => {
  const all = messages(1, 30);
  const before = groupMessages([], all);
  const after = groupMessages(before, all.with(29, userMessage('m30', 'y')));
  expect(after.at(-1)).not.toBe(before.at(-1));
  expect(after[0]).toBe(before[0]);
});
