import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { KNOWN_TOOLS, labelsFor } from './tool-labels';

test('every tool in the guide has its own labels', () => {
  const guide = readFileSync('../docs/guide/tools.md', 'utf8');
  const table = guide.slice(guide.indexOf('## What there is'), guide.indexOf('An operator can add'));
  const tools = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  expect(tools.length).toBeGreaterThan(20);
  for (const tool of tools) expect(KNOWN_TOOLS).toContain(tool);
});

test('tools have the labels people know', () => {
  expect(labelsFor('run_sub_session').label).toBe('Sub-session');
  expect(labelsFor('run_block').label).toBe('Action');
  expect(labelsFor('run_agent').label).toBe('Agent');
});

test('a tool added by an operator is labeled with its name and its first text argument', () => {
  const { label, object } = labelsFor('print_chart');
  expect(label).toBe('Print chart');
  expect(object?.({ copies: 2, chart: 'Brest\n roads' })).toBe('Brest roads');
});

test('property names of Object.prototype are not known tools', () => {
  expect(labelsFor('constructor').label).toBe('Constructor');
});

test('a missing or malformed input has no object, and a long one is truncated', () => {
  const { object } = labelsFor('search_docs');
  expect(object?.({})).toBeUndefined();
  expect(object?.({ query: { a: 1 } })).toBeUndefined();
  expect(object?.({ query: 'x'.repeat(5000) })?.length).toBeLessThan(200);
});
