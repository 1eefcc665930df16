import { expect, test } from 'vitest';
import { mergeTexts } from './merge-texts';

const BASE = [
  'name: Tides',
  'inputs:',
  '  harbor: string',
  'steps:',
  '  high: {b: 1}',
  'outputs:',
  '  tide: high.result',
];
const text = (lines: string[]) => lines.join('\n');
const changed = (index: number, ...lines: string[]) => text(BASE.toSpliced(index, 1, ...lines));

test('changes in different places are both kept', () => {
  const merged = mergeTexts(
    text(BASE),
    changed(4, '  high: {b: 2}', '  low: {b: 0}'),
    changed(0, 'name: Evening'),
  );
  expect(merged).toBe(text(BASE.with(0, 'name: Evening').toSpliced(4, 1, '  high: {b: 2}', '  low: {b: 0}')));
});

test('the same change on both sides is made once', () => {
  expect(mergeTexts(text(BASE), changed(4, '  high: {b: 2}'), changed(4, '  high: {b: 2}'))).toBe(
    changed(4, '  high: {b: 2}'),
  );
});

test('different changes of one line are a conflict', () => {
  expect(mergeTexts(text(BASE), changed(4, '  high: {b: 2}'), changed(4, '  high: {b: 3}'))).toBeNull();
});

test('different lines inserted in one place are a conflict', () => {
  const mine = text(BASE.toSpliced(5, 0, '  low: {}'));
  const theirs = text(BASE.toSpliced(5, 0, '  mid: {}'));
  expect(mergeTexts(text(BASE), mine, theirs)).toBeNull();
});

test('a removed line and a change elsewhere are both kept', () => {
  expect(mergeTexts(text(BASE), text(BASE.toSpliced(2, 1)), changed(6, '  high: high.result'))).toBe(
    text(BASE.with(6, '  high: high.result').toSpliced(2, 1)),
  );
});

test('without a change on one side the other is the result', () => {
  const other = changed(0, 'name: Other');
  expect(mergeTexts(text(BASE), text(BASE), other)).toBe(other);
  expect(mergeTexts(text(BASE), other, text(BASE))).toBe(other);
});

test('texts that are too long are not merged', () => {
  const long = (word: string) => Array.from({ length: 4000 }, (_, index) => `${word} ${index}`).join('\n');
  expect(mergeTexts(long('a'), long('b'), long('c'))).toBeNull();
});
