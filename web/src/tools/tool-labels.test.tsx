import { screen } from '@testing-library/react';
import { Wrench } from 'lucide-react';
import { expect, test } from 'vitest';
import { TOOLS } from '@/styleguide/fixtures/tools';
import { noConnection, serve, show } from '@/testing/fake-server';
import { ToolCard } from './tool-card';
import { toolIcon } from './tool-icons';
import { labelsOf } from './tool-labels';
import type { ToolPart } from './types';

const SEARCH: ToolPart = {
  type: 'tool-search_docs',
  toolCallId: 'call',
  state: 'input-available',
  input: { query: 'tides' },
};

test('tools have the labels of the server', async () => {
  serve({ 'GET /api/chat/tools': () => TOOLS });
  show(<ToolCard part={SEARCH} />);
  expect(await screen.findByText('Documentation')).toBeDefined();
  expect(screen.getByText('Searching for “tides”')).toBeDefined();
});

test('while labels are not loaded, a call is labeled with the name of its tool', async () => {
  const requests = serve({ 'GET /api/chat/tools': noConnection });
  show(<ToolCard part={SEARCH} />);
  expect(screen.getByText('Search docs')).toBeDefined();
  expect(screen.getByText('Running tides')).toBeDefined();
  await expect.poll(() => requests.length).toBe(1);
  expect(screen.getByText('Search docs')).toBeDefined();
});

test('an unknown tool is labeled with its name and its first text argument', () => {
  const { label, objectOf } = labelsOf('print_chart', TOOLS);
  expect(label).toBe('Print chart');
  expect(objectOf({ copies: 2, chart: 'Brest\n roads' })).toBe('Brest roads');
});

test('an unknown icon is a wrench', () => {
  expect(toolIcon('anchor')).toBe(Wrench);
  // A property name of Object.prototype.
  expect(toolIcon('constructor')).toBe(Wrench);
});

test('the object is the first given argument in the style of the tool', () => {
  expect(labelsOf('read_workspace_file', TOOLS).objectOf({ path: ' ', file_id: 'wf-1' })).toBe('wf-1');
  expect(labelsOf('web_fetch', TOOLS).objectOf({ url: 'https://example.org/tides' })).toBe(
    'example.org/tides',
  );
  expect(labelsOf('todo_write', TOOLS).objectOf({ todos: 'x' })).toBeUndefined();
});

test('a missing or malformed input has no object, and a long one is truncated', () => {
  const { objectOf } = labelsOf('search_docs', TOOLS);
  expect(objectOf({})).toBeUndefined();
  expect(objectOf({ query: { a: 1 } })).toBeUndefined();
  expect(objectOf({ query: 'x'.repeat(5000) })?.length).toBeLessThan(200);
});
