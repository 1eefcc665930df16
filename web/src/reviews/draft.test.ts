import { describe, expect, test } from 'vitest';
import type { Review } from '@/protocol';
import { EMPTY_DRAFT, faultsOf, fieldsOf, isEdited, sessionOf, verdictOf } from './draft';

function asked(payload: unknown): Review {
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

const order = asked({ url: 'https://harbour.example', amount: 30 });
const write = (changes: Record<string, string>) => ({ ...EMPTY_DRAFT, changes });

describe('what a person has written on a review', () => {
  test('an object is changed field by field, text as text and the rest as JSON', () => {
    expect(fieldsOf(order.payload).map(({ name, kind }) => [name, kind])).toEqual([
      ['url', 'text'],
      ['amount', 'json'],
    ]);
    expect(verdictOf(order, write({ amount: '[1, 2]' }), true).reviewed_data).toEqual({
      url: 'https://harbour.example',
      amount: [1, 2],
    });
  });

  test.each([
    ['a letter', 'Dear all', 'Dear all'],
    [[1], '[1, 2]', [1, 2]],
    [{}, '{"a": null}', { a: null }],
    [7, 'null', null],
  ])('%j is changed as a whole', (payload, text, changed) => {
    expect(verdictOf(asked(payload), write({ Content: text }), true).reviewed_data).toEqual(changed);
  });

  test('a change that was taken back is none', () => {
    const same = write({ amount: '30' });
    expect(isEdited(order, same)).toBe(false);
    expect(verdictOf(order, same, true)).not.toHaveProperty('reviewed_data');
  });

  test('what is not JSON is named, but text may be anything', () => {
    expect(faultsOf(order, write({ amount: '{', url: '{' }))).toEqual(
      new Map([['amount', 'This is not JSON.']]),
    );
  });

  test.each(['constructor', 'valueOf', '__proto__'])('a field may be called %s', (name) => {
    const review = asked(Object.fromEntries([[name, 1]]));
    const change = (text: string) => write(Object.fromEntries([[name, text]]));
    expect(isEdited(review, EMPTY_DRAFT)).toBe(false);
    expect(faultsOf(review, EMPTY_DRAFT).size).toBe(0);
    expect(faultsOf(review, change('{')).has(name)).toBe(true);
    const sent = verdictOf(review, change('2'), true).reviewed_data;
    expect(Object.entries(sent as object)).toEqual([[name, 2]]);
  });

  test('a rejection carries the remark and no changes', () => {
    const draft = { changes: { amount: '31' }, message: ' Too much. ', forTheRest: true };
    expect(verdictOf(order, draft, false)).toEqual({
      node_exec_id: 'run:1',
      approved: false,
      message: 'Too much.',
    });
  });

  test('changes and the rest of the run are not sent together', () => {
    const both = { changes: { amount: '31' }, message: '', forTheRest: true };
    expect(verdictOf(order, both, true)).not.toHaveProperty('auto_approve_future');
    expect(verdictOf(order, { ...EMPTY_DRAFT, forTheRest: true }, true).auto_approve_future).toBe(true);
  });

  test('a block that the copilot runs by itself belongs to a session', () => {
    expect(sessionOf({ graph_exec_id: 'copilot-session-s1' })).toBe('s1');
    expect(sessionOf(order)).toBeNull();
  });
});
