import { describe, expect, test } from 'vitest';
import type { ToolCallView } from '@/protocol';
import { messagesOf } from './history';
import { row } from './testing/scripted-server';

function call(id: string, name = 'find_block', args = '{"query":"mail"}'): ToolCallView {
  return { id, type: 'function', function: { name, arguments: args } };
}

describe('converting a history into messages', () => {
  test('a response has the id of its turn, and a user message keeps its id', () => {
    const messages = messagesOf([
      row(1, 'user', { id: 'mine', content: 'Hello' }),
      row(2, 'assistant', { content: 'Good day', reasoning: 'A greeting', model: 'm', duration_ms: 900 }),
    ]);
    expect(messages.map(({ id, role }) => [id, role])).toEqual([
      ['mine', 'user'],
      ['turn-1', 'assistant'],
    ]);
    expect(messages[1]?.parts).toEqual([
      { type: 'step-start' },
      { type: 'reasoning', text: 'A greeting', state: 'done' },
      { type: 'text', text: 'Good day', state: 'done' },
    ]);
    expect(messages[1]?.metadata).toMatchObject({ model: 'm', durationMs: 900 });
  });

  test('the steps of a turn are one response, and tool rows complete their calls in any order', () => {
    const [response] = messagesOf([
      row(1, 'assistant', { tool_calls: [call('a'), call('b')] }),
      row(2, 'tool', { tool_call_id: 'b', outcome: 'ok', content: '{"type":"block_list"}' }),
      row(3, 'tool', { tool_call_id: 'a', outcome: 'error', content: '{"type":"error","message":"No"}' }),
      row(4, 'assistant', { content: 'Done' }),
    ]);
    expect(response?.parts.filter((part) => part.type === 'tool-find_block')).toEqual([
      {
        type: 'tool-find_block',
        toolCallId: 'a',
        state: 'output-available',
        input: { query: 'mail' },
        output: { type: 'error', message: 'No' },
      },
      {
        type: 'tool-find_block',
        toolCallId: 'b',
        state: 'output-available',
        input: { query: 'mail' },
        output: { type: 'block_list' },
      },
    ]);
    expect(response?.parts.at(-1)).toMatchObject({ type: 'text', text: 'Done' });
  });

  test('a call without a result has ended, and a canceled one has its reason', () => {
    const [response] = messagesOf([
      row(1, 'assistant', { tool_calls: [call('a'), call('b', 'bash_exec', 'not json')] }),
      row(2, 'tool', { tool_call_id: 'b', outcome: 'cancelled', content: '{"message":"It was stopped."}' }),
    ]);
    expect(response?.parts.slice(1)).toEqual([
      expect.objectContaining({ toolCallId: 'a', state: 'output-error' }),
      expect.objectContaining({ toolCallId: 'b', input: 'not json', errorText: 'It was stopped.' }),
    ]);
  });

  test('a follow-up is part of the response during which it was delivered', () => {
    const messages = messagesOf([
      row(1, 'user', { content: 'Begin' }),
      row(2, 'assistant', { content: 'One' }),
      row(3, 'user', { id: 'f1', content: 'And?' }),
      row(4, 'user', { id: 'f2', content: 'Well?' }),
      row(5, 'assistant', { content: 'Two' }),
    ]);
    expect(messages).toHaveLength(2);
    expect(messages[1]?.parts.map((part) => part.type)).toEqual([
      'step-start',
      'text',
      'data-pending-drained',
      'step-start',
      'text',
    ]);
    expect(messages[1]?.parts[2]).toMatchObject({
      data: {
        count: 2,
        messages: [
          { id: 'f1', text: 'And?' },
          { id: 'f2', text: 'Well?' },
        ],
      },
    });
  });

  test('a failure, a stop and a compaction belong to their turn', () => {
    const error = { kind: 'error', code: 'idle_timeout', retryable: false };
    const messages = messagesOf([
      row(1, 'user', { turn_id: 'a', content: 'x' }),
      row(2, 'system', { turn_id: 'a', content: 'Nothing came.', metadata: error }),
      row(3, 'assistant', { turn_id: 'b', content: 'Half', metadata: { partial: true } }),
      row(4, 'system', {
        turn_id: 'b',
        content: 'Stopped.',
        metadata: { kind: 'stopped', code: 'cancelled' },
      }),
      row(5, 'system', {
        turn_id: 'c',
        content: '',
        metadata: { kind: 'compaction', folded: 3, summary: 'S' },
      }),
    ]);
    expect(messages[1]?.metadata).toMatchObject({
      error: '[code:idle_timeout] Nothing came.',
      retryable: false,
    });
    expect(messages[2]?.metadata).toMatchObject({ stopped: true });
    expect(messages[3]?.parts[0]).toMatchObject({ type: 'data-compaction', data: { folded: 3 } });
  });

  test('a result whose call is on an earlier page is skipped until that page is loaded', () => {
    expect(messagesOf([row(9, 'tool', { tool_call_id: 'gone', outcome: 'ok', content: '{}' })])).toEqual([]);
  });
});
