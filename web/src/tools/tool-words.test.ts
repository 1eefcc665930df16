import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { KNOWN_TOOLS, wordsFor } from './tool-words';

test('every tool of the guide has words of its own', () => {
  const guide = readFileSync('../docs/guide/tools.md', 'utf8');
  const table = guide.slice(guide.indexOf('## What there is'), guide.indexOf('An operator can add'));
  const tools = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  expect(tools.length).toBeGreaterThan(20);
  for (const tool of tools) expect(KNOWN_TOOLS).toContain(tool);
});

test('the words people know', () => {
  expect(wordsFor('run_sub_session').label).toBe('Sub-AutoPilot');
  expect(wordsFor('run_block').label).toBe('Action');
  expect(wordsFor('run_agent').label).toBe('Agent');
});

test('a tool that an operator has added goes by its own name, and by what it is given', () => {
  const { label, object } = wordsFor('print_chart');
  expect(label).toBe('Print chart');
  expect(object?.({ copies: 2, chart: 'Brest\n roads' })).toBe('Brest roads');
});

test('names that every object has are no tools of ours', () => {
  expect(wordsFor('constructor').label).toBe('Constructor');
});

test('an input that is missing or odd has no object, and a long one is cut', () => {
  const { object } = wordsFor('search_docs');
  expect(object?.({})).toBeUndefined();
  expect(object?.({ query: { a: 1 } })).toBeUndefined();
  expect(object?.({ query: 'x'.repeat(5000) })?.length).toBeLessThan(200);
});
