import { expect, test } from 'vitest';
import { lineOfProblem, rangeOfLine } from './spec-lines';

const BLOCK = `name: Tides
# page: not this one
inputs:
  harbor: {type: string}
steps:
  page:
    block: Send Web Request
    url: inputs.harbour

    # a note
    headers:
      url: no
  high: {block: Text, prompt: "page: {{page.response}}"}
outputs:
  page: high.response
`;

const lineOf = (spec: string, path: string | null, step: string | null = null) => {
  const line = lineOfProblem(spec, { code: '', message: '', path, step });
  return line === null ? null : spec.split('\n')[line]?.trim();
};

test('a problem leads to the line of its pin, else of its step', () => {
  expect(lineOf(BLOCK, 'steps.page.url')).toBe('url: inputs.harbour');
  expect(lineOf(BLOCK, 'steps.page.method')).toBe('page:');
  expect(lineOf(BLOCK, 'steps.high.prompt')).toMatch(/^high:/);
  expect(lineOf(BLOCK, 'inputs.harbor.type')).toMatch(/^harbor:/);
  expect(lineOf(BLOCK, 'outputs.page')).toBe('page: high.response');
  expect(lineOf(BLOCK, 'outputs')).toBe('outputs:');
});

test('without a path, the step is looked for in every section', () => {
  expect(lineOf(BLOCK, null, 'high')).toMatch(/^high:/);
  expect(lineOf(BLOCK, null, 'harbor')).toMatch(/^harbor:/);
  expect(lineOf(BLOCK, 'steps.gone.url', 'page')).toBe('page:');
});

test('a problem without a place has no line', () => {
  expect(lineOf(BLOCK, null)).toBeNull();
  expect(lineOf(BLOCK, 'steps.gone')).toBeNull();
  expect(lineOf('a: [1, 2', 'steps.page', 'page')).toBeNull();
});

test('steps on one line and steps in JSON are found', () => {
  expect(lineOf('name: A\nsteps: {page: {block: X}, high: {block: Y}}\n', 'steps.high.block')).toMatch(
    /^steps:/,
  );
  const json = JSON.stringify(
    { name: 'A', steps: { 'a.b': { x: 1 }, page: { block: 'X', url: 2 } } },
    null,
    2,
  );
  expect(lineOf(json, 'steps.page.url')).toBe('"url": 2');
});

test('a key with signs that mean something in a pattern is taken literally', () => {
  expect(lineOf('steps:\n  a+(b: {block: X}\n', 'steps.a+(b')).toBe('a+(b: {block: X}');
});

test('the range of a line has its characters without the line break', () => {
  expect(rangeOfLine('ab\ncde\n', 1)).toEqual([3, 6]);
  expect(rangeOfLine('ab', 0)).toEqual([0, 2]);
});
