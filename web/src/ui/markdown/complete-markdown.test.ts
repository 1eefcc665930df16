import { describe, expect, test } from 'vitest';
import { completeMarkdown, withoutPartialFence } from './complete-markdown';

describe('incomplete text', () => {
  test.each([
    ['bold', 'a **bold wo', 'a **bold wo**'],
    ['bold with a space at its end', 'a **bold ', 'a **bold** '],
    ['half of the mark that closes bold', 'a **bold*', 'a **bold**'],
    ['the mark that opens bold', 'a **', 'a '],
    ['bold in emphasis', '*a **b', '*a **b***'],
    ['struck out', '~~gone', '~~gone~~'],
    ['code', 'run `cargo te', 'run `cargo te`'],
    ['the tick that opens code', 'run `', 'run '],
    ['stars inside code', 'run `a **b', 'run `a **b`'],
    ['the address of a link', 'see [the guide](https://exam', 'see the guide'],
    ['the address of a picture', '![a chart](https://exam', 'a chart'],
    ['an item of a list', '- one\n- **two', '- one\n- **two**'],
    ['a heading', '## A *title', '## A *title*'],
  ])('%s is completed', (_, half, whole) => {
    expect(completeMarkdown(half)).toBe(whole);
  });

  test.each([
    ['plain words', 'nothing to close'],
    ['finished marks', '**a** and *b* and `c` and [d](https://e.example)'],
    ['a star between numbers', '2 * 3 and 4 * 5'],
    ['underscores in a name', 'the field user_id_of_owner is'],
    ['an escaped star', 'a \\*b'],
    ['an item whose mark is a star', '* one\n* two'],
    ['the mark of an earlier paragraph', 'an **open one\n\nand the next'],
    ['a bracket that may be a footnote', 'as in [1'],
  ])('%s is unchanged', (_, text) => {
    expect(completeMarkdown(text)).toBe(text);
  });
});

describe('incomplete code', () => {
  test('stays code and gets no closing marks', () => {
    expect(completeMarkdown('```js\nconst a = `x **')).toBe('```js\nconst a = `x **');
  });

  test('also inside a list item', () => {
    expect(completeMarkdown('- see\n  ```js\n  a **b')).toBe('- see\n  ```js\n  a **b');
  });

  test('hides the first backticks of its closing fence', () => {
    expect(withoutPartialFence('a\n``')).toBe('a');
    expect(completeMarkdown('- ```js\n  a\n  ``')).toBe('- ```js\n  a');
  });

  test('ends with its fence', () => {
    expect(completeMarkdown('- ```js\n  a\n  ```\n- **b')).toBe('- ```js\n  a\n  ```\n- **b**');
  });
});

describe('an ambiguous last line', () => {
  test.each([
    ['a dash, which would make the line above a heading', 'Title\n-', 'Title'],
    ['a hash', 'Words\n##', 'Words'],
    ['two ticks', 'Words\n``', 'Words'],
  ])('%s is hidden', (_, half, whole) => {
    expect(completeMarkdown(half)).toBe(whole);
  });
});

describe('an incomplete table', () => {
  test.each([
    ['with its head only', '| a | b |', '| a | b |\n| --- | --- |'],
    ['with half its head', '| a | b', '| a | b\n| --- | --- |'],
    ['with half the line below', '| a | b |\n|--', '| a | b |\n| --- | --- |'],
  ])('%s is already a table', (_, half, whole) => {
    expect(completeMarkdown(half)).toBe(whole);
  });

  test('keeps its rows', () => {
    const table = '| a | b |\n|---|---|\n| 1 | 2';
    expect(completeMarkdown(table)).toBe(table);
  });
});
