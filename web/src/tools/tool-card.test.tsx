import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ResponseType } from '@/protocol';
import { EXAMPLES, type Example, partOf } from '@/styleguide/fixtures';
import { BARE } from '@/styleguide/fixtures/bare';
import { clearCardState } from './card-state';
import { CARDS } from './registry';
import { showCard, showInChat } from './testing/show-card';
import { ToolCard } from './tool-card';
import type { ToolPart } from './types';

const TYPES = Object.keys(CARDS) as ResponseType[];
// React logs every error that a boundary catches.
const reported = vi.spyOn(console, 'error').mockImplementation(() => {});
beforeEach(() => reported.mockClear());
afterEach(clearCardState);

describe('every response type has a card', () => {
  test.each(TYPES)('%s renders its examples', async (type) => {
    for (const example of EXAMPLES[type] as Example[]) {
      const card = await showCard(partOf(example, example.title), { open: true });
      expect(reported).not.toHaveBeenCalled();
      expect(card.textContent?.length).toBeGreaterThan(10);
    }
  });

  test.each(TYPES)('%s renders without its optional fields', async (type) => {
    await showCard(answer(BARE[type]), { open: true });
    expect(reported).not.toHaveBeenCalled();
  });

  test.each(TYPES)('%s with no field but its type does not break the page', async (type) => {
    const card = await showCard(answer({ type }), { open: true });
    expect(within(card).getByRole('button', { name: /Some tool/ })).toBeDefined();
  });
});

describe('tool output is only rendered as text', () => {
  const HOSTILE = [
    '<img src=x onerror="alert(1)"><script>alert(2)</script>',
    'javascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
  ];

  test.each(TYPES)('%s runs no script and has no unsafe link', async (type) => {
    const parts = HOSTILE.flatMap((hostile) =>
      (EXAMPLES[type] as Example[]).map((example) =>
        partOf(poisoned(example, hostile), example.title + hostile),
      ),
    );
    const cards = await showInChat(parts.map((part) => <ToolCard open key={part.toolCallId} part={part} />));
    expect(cards.querySelector('script, iframe, object, img[src="x"]')).toBeNull();
    for (const link of cards.querySelectorAll('a'))
      expect(link.getAttribute('href')).toMatch(/^(https?:|\/)/);
  });

  test('property names of Object.prototype are not response types', async () => {
    const card = await showCard(answer({ type: 'constructor', message: 'Hello' }), { open: true });
    expect(within(card).getByText(/"constructor"/)).toBeDefined();
  });
});

describe('a call is one row with its status', () => {
  const call = { type: 'tool-search_docs' as const, toolCallId: 'c', input: { query: 'tides' } };

  test.each<[string, ToolPart, RegExp]>([
    [
      'preparing',
      { ...call, state: 'input-streaming', input: undefined },
      /Documentation Searching for.*preparing/,
    ],
    ['running', { ...call, state: 'input-available' }, /Documentation Searching for “tides”.*running/],
    [
      'failed',
      { ...call, state: 'output-error', errorText: 'It crashed.' },
      /Documentation It crashed\..*failed/,
    ],
    [
      'done',
      { ...call, state: 'output-available', output: 'text' },
      /Documentation Searched for “tides”.*done/,
    ],
    ['running', preliminary(call), /Documentation Searching for “tides”.*running/],
  ])('%s', async (_, part, name) => {
    const card = await showCard(part);
    expect(within(card).getByRole('button', { name })).toBeDefined();
  });

  test('a call without a result is stopped once its turn has ended', async () => {
    const card = await showCard({ ...call, state: 'input-available' }, { live: false });
    expect(within(card).getByRole('button', { name: /stopped/ })).toBeDefined();
  });

  test('an empty output in the history means that the call was interrupted', async () => {
    const card = await showCard({ ...call, state: 'output-available', output: '' });
    expect(within(card).getByRole('button', { name: /stopped/ })).toBeDefined();
  });

  test('the row opens to show the input and the result, and closes again', async () => {
    const part: ToolPart = {
      ...call,
      state: 'output-available',
      output: EXAMPLES.doc_search_results[0].response,
    };
    const card = await showCard(part);
    const row = within(card).getByRole('button', { name: /Documentation/ });
    expect(row.getAttribute('aria-expanded')).toBe('false');
    await userEvent.click(row);
    expect(within(card).getByText('Streaming and resume')).toBeDefined();
    await userEvent.click(within(card).getByText('Details'));
    expect(within(card).getByText(/"query": "tides"/)).toBeDefined();
    await userEvent.click(row);
    expect(within(card).queryByText('Streaming and resume')).toBeNull();
  });

  test('a closed card stays closed when it is mounted again', async () => {
    const part = partOf(EXAMPLES.todo_write[0] as Example);
    const card = await showCard(part);
    await userEvent.click(within(card).getByRole('button', { name: /Plan/ }));
    const again = await showCard(part);
    expect(within(again).getByRole('button', { name: /Plan/ }).getAttribute('aria-expanded')).toBe('false');
  });
});

describe('output without a card of its own', () => {
  test('an unknown type is shown as JSON', async () => {
    const card = await showCard(answer({ type: 'weather', message: 'Gusts.', force: 7 }), { open: true });
    expect(within(card).getByText('Gusts.')).toBeDefined();
    expect(within(card).getByText(/"force": 7/)).toBeDefined();
  });

  test('the result of an operation is shown with readable names and is open by default', async () => {
    const card = await showCard(answer({ chart: 'Brest', sheet_count: 4 }));
    expect(within(card).getByText('Sheet count')).toBeDefined();
    expect(within(card).getByText('Brest')).toBeDefined();
  });

  test('text is shown as text', async () => {
    await showCard(answer('{"not": json'), { open: true });
    expect(screen.getByText('{"not": json')).toBeDefined();
  });

  test('output stored as JSON text is parsed', async () => {
    const card = await showCard(answer(JSON.stringify(BARE.block_list)), { open: true });
    expect(within(card).getByText('No blocks found for “”.')).toBeDefined();
  });

  test('output that its card cannot render is shown as JSON', async () => {
    const card = await showCard(answer({ type: 'agents_found', message: 'Odd.' }), { open: true });
    expect(within(card).getByText('Odd.')).toBeDefined();
    // Proves that the tests above can fail.
    expect(reported).toHaveBeenCalled();
  });
});

function answer(output: unknown): ToolPart {
  return { type: 'tool-some_tool', toolCallId: 'a', state: 'output-available', input: {}, output };
}

function preliminary(call: { type: 'tool-search_docs'; toolCallId: string; input: unknown }): ToolPart {
  const output = EXAMPLES.doc_search_results[0].response;
  return { ...call, state: 'output-available', preliminary: true, output };
}

/** The example with every string replaced, except the enum values of the protocol. */
function poisoned(example: Example, poison: string): Example {
  const enums = /^(type|status|source|encoding|goal_type|tool_name|tool|role)$/;
  const replaced = (value: unknown, name = ''): unknown => {
    if (typeof value === 'string') return enums.test(name) ? value : poison;
    if (Array.isArray(value)) return value.map((item) => replaced(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replaced(item, key)]));
  };
  return {
    ...example,
    input: replaced(example.input) as never,
    response: replaced(example.response) as never,
  };
}
