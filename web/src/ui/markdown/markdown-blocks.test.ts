import { describe, expect, test } from 'vitest';
import { EMPTY_SPLIT, type MarkdownBlock, splitMarkdown } from './markdown-blocks';

const shapes = (text: string) => splitMarkdown(text).blocks.map(shape);
const shape = (block: MarkdownBlock) =>
  block.kind === 'code' ? `${block.language ?? 'code'}:${block.text}` : `${block.text}`;

describe('splitting a text', () => {
  test.each([
    ['at empty lines', 'one\n\ntwo\n\n\nthree', ['one', 'two', 'three']],
    ['around code', 'see\n```js\na\n\nb\n```\nend', ['see', 'js:a\n\nb', 'end']],
    ['around code that is not closed', 'see\n\n```js\na\n\nb', ['see', 'js:a\n\nb']],
    ['around code with a longer fence', '````md\n```\na\n```\n````', ['md:```\na\n```']],
    ['around code between tildes', '~~~sh title="x"\na\n~~~', ['sh:a']],
    ['behind a list', '- a\n\n- b\n\nend', ['- a\n\n- b', 'end']],
  ])('%s', (_, text, expected) => {
    expect(shapes(text)).toEqual(expected);
  });

  test.each([
    ['a list whose items have paragraphs', '1. a\n\n   more\n\n2. b'],
    ['a list with code in an item', '- a\n\n  ```js\n  x\n  ```\n\n  more'],
    ['indented code with empty lines', '    a\n\n    b'],
    ['a table', '| a |\n|---|\n| 1 |'],
    ['a quote', '> a\n> b\nlazy'],
  ])('%s is not split', (_, text) => {
    expect(shapes(text)).toEqual([text]);
  });

  test('code keeps its own indentation and loses that of its fence', () => {
    expect(shapes('  ```\n  a\n    b\n  ```')).toEqual(['code:a\n  b']);
  });

  test('three backticks inside a line are not a fence', () => {
    expect(shapes('a\n``` b ``` c\n\nd')).toEqual(['a\n``` b ``` c', 'd']);
  });
});

test('a growing text keeps its existing blocks', () => {
  const whole = 'one\n\n- a\n\n1. b\n\n```js\nc\n```\nlast\n\nend';
  let known = EMPTY_SPLIT;
  for (let end = 1; end <= whole.length; end++) {
    known = splitMarkdown(whole.slice(0, end), known);
    expect(known.blocks).toEqual(splitMarkdown(whole.slice(0, end)).blocks);
  }
});

test('text that is too long or too deeply nested for the parser is plain', () => {
  expect(splitMarkdown('x '.repeat(40_000)).blocks[0]?.kind).toBe('plain');
  expect(splitMarkdown('> '.repeat(50)).blocks[0]?.kind).toBe('plain');
  expect(splitMarkdown(`\`\`\`\n${'x '.repeat(40_000)}\n\`\`\``).blocks[0]?.kind).toBe('code');
});
