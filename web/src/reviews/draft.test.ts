import { describe, expect, test } from 'vitest';
import type { Review } from '@/protocol';
import { decisionOf, EMPTY_DRAFT, errorsOf, fieldsOf, isEdited, sessionOf } from './draft';

function reviewOf(payload: unknown): Review {
  return {
    node_exec_id: 'run:1',
    user_id: 'local',
    graph_exec_id: 'run',
    graph_id: 'graph',
    graph_version: 1,
    node_id: 'node',
    payload,
    instructions: 'Look at it.',
    editable: true,
    status: 'WAITING',
    was_edited: false,
    created_at: '2026-11-16T12:00:00Z',
  };
}

const order = reviewOf({ url: 'https://harbor.example', amount: 30 });
const write = (changes: Record<string, string>) => ({ ...EMPTY_DRAFT, changes });

describe('draft of a review', () => {
  test('an object is edited field by field, strings as text and other values as JSON', () => {
    expect(fieldsOf(order.payload).map(({ name, kind }) => [name, kind])).toEqual([
      ['url', 'text'],
      ['amount', 'json'],
    ]);
    expect(decisionOf(order, write({ amount: '[1, 2]' }), true).reviewed_data).toEqual({
      url: 'https://harbor.example',
      amount: [1, 2],
    });
  });

  test.each([
    ['a letter', 'Dear all', 'Dear all'],
    [[1], '[1, 2]', [1, 2]],
    [{}, '{"a": null}', { a: null }],
    [7, 'null', null],
  ])('%j is edited as a whole', (payload, text, changed) => {
    expect(decisionOf(reviewOf(payload), write({ Content: text }), true).reviewed_data).toEqual(changed);
  });

  test('a reverted change is not an edit', () => {
    const same = write({ amount: '30' });
    expect(isEdited(order, same)).toBe(false);
    expect(decisionOf(order, same, true)).not.toHaveProperty('reviewed_data');
  });

  test('invalid JSON is an error, but a text field may have any content', () => {
    expect(errorsOf(order, write({ amount: '{', url: '{' }))).toEqual(
      new Map([['amount', 'Enter valid JSON.']]),
    );
  });

  test.each(['constructor', 'valueOf', '__proto__'])('a field may be named %s', (name) => {
    const review = reviewOf(Object.fromEntries([[name, 1]]));
    const change = (text: string) => write(Object.fromEntries([[name, text]]));
    expect(isEdited(review, EMPTY_DRAFT)).toBe(false);
    expect(errorsOf(review, EMPTY_DRAFT).size).toBe(0);
    expect(errorsOf(review, change('{')).has(name)).toBe(true);
    const sent = decisionOf(review, change('2'), true).reviewed_data;
    expect(Object.entries(sent as object)).toEqual([[name, 2]]);
  });

  test('a rejection has the comment and no changes', () => {
    const draft = { changes: { amount: '31' }, message: ' Too much. ', autoApprove: true };
    expect(decisionOf(order, draft, false)).toEqual({
      node_exec_id: 'run:1',
      approved: false,
      message: 'Too much.',
    });
  });

  test('changes and auto-approval are not sent together', () => {
    const both = { changes: { amount: '31' }, message: '', autoApprove: true };
    expect(decisionOf(order, both, true)).not.toHaveProperty('auto_approve_future');
    expect(decisionOf(order, { ...EMPTY_DRAFT, autoApprove: true }, true).auto_approve_future).toBe(true);
  });

  test('a block run by the copilot belongs to a session', () => {
    expect(sessionOf({ graph_exec_id: 'copilot-session-s1' })).toBe('s1');
    expect(sessionOf(order)).toBeNull();
  });
});
