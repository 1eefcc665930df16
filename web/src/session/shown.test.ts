import { describe, expect, test } from 'vitest';
import { question } from './history';
import { shown, stillSaid } from './shown';
import type { CopilotMessage, CopilotPart } from './types';

const answer = (id: string, parts: CopilotPart[]): CopilotMessage => ({ id, role: 'assistant', parts });
const text = (words: string): CopilotPart => ({ type: 'text', text: words, state: 'done' });
const step: CopilotPart = { type: 'step-start' };
const tool = (state: 'input-available' | 'output-available', output?: unknown) =>
  ({ type: 'tool-print_chart', toolCallId: 'c', state, input: {}, output }) as unknown as CopilotPart;

describe('what a person sees', () => {
  test('a step that is done again by another worker stands there once', () => {
    const supersedes = {
      type: 'data-attempt',
      data: { attempt: 2, supersedes: { from: 5, to: 9 } },
    } as const;
    const parts = stillSaid([
      step,
      text('kept'),
      step,
      text('half of it'),
      supersedes,
      step,
      text('all of it'),
    ]);
    expect(parts.filter((part) => part.type === 'text').map((part) => part.text)).toEqual([
      'kept',
      'all of it',
    ]);
  });

  test('a worker that goes on where the other ended takes nothing back', () => {
    const parts: CopilotPart[] = [step, text('kept'), { type: 'data-attempt', data: { attempt: 2 } }];
    expect(stillSaid(parts)).toBe(parts);
  });

  test('the result of an operation stands where the call was made, and not again where it came', () => {
    const started = answer('a', [
      step,
      tool('output-available', { type: 'operation_started' }),
      text('Wait.'),
    ]);
    const ended = answer('b', [
      step,
      tool('output-available', { file: 'chart.pdf' }),
      step,
      text('Printed.'),
    ]);
    const [first, second] = shown([started, ended], null);
    expect(first?.parts[1]).toMatchObject({ output: { file: 'chart.pdf' } });
    expect(second?.parts.some((part) => part.type === 'tool-print_chart')).toBe(false);
  });

  test('an operation that is at work keeps the word that it was started', () => {
    const started = answer('a', [tool('output-available', { type: 'operation_started' })]);
    const [first] = shown([started, answer('b', [tool('input-available')])], null);
    expect(first?.parts[0]).toMatchObject({ output: { type: 'operation_started' } });
  });

  test('what was there before stays until the replay has caught up', () => {
    const held = answer('a', [step, text('The tide comes in')]);
    expect(shown([answer('a', [])], held)).toEqual([held]);
    expect(shown([answer('a', [step, text('The tide')])], held)).toEqual([held]);
    const further = answer('a', [step, text('The tide comes in and goes out')]);
    expect(shown([further], held)).toEqual([further]);
  });

  test('a follow-up that the answer has taken up is not shown before it as well', () => {
    const drained: CopilotPart = {
      type: 'data-pending-drained',
      data: { count: 1, messages: [{ id: 'f', text: 'And?' }] },
    };
    const list = shown([question('q', 'Begin'), question('f', 'And?'), answer('a', [drained])], null);
    expect(list.map((message) => message.id)).toEqual(['q', 'a']);
  });

  test('messages that nothing changes about stay the same objects', () => {
    const list = [question('q', 'Begin'), answer('a', [step, text('One')])];
    shown(list, null).forEach((message, index) => {
      expect(message).toBe(list[index]);
    });
  });
});
