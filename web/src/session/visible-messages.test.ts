import { describe, expect, test } from 'vitest';
import { userMessage } from './history';
import type { CopilotMessage, CopilotPart } from './types';
import { visibleMessages, withoutSupersededSteps } from './visible-messages';

const response = (id: string, parts: CopilotPart[]): CopilotMessage => ({ id, role: 'assistant', parts });
const text = (value: string): CopilotPart => ({ type: 'text', text: value, state: 'done' });
const step: CopilotPart = { type: 'step-start' };
const tool = (state: 'input-available' | 'output-available', output?: unknown) =>
  ({ type: 'tool-print_chart', toolCallId: 'c', state, input: {}, output }) as unknown as CopilotPart;

describe('visible messages', () => {
  test('a step repeated by another worker is shown once', () => {
    const supersedes = {
      type: 'data-attempt',
      data: { attempt: 2, supersedes: { from: 5, to: 9 } },
    } as const;
    const parts = withoutSupersededSteps([
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

  test('a worker that continues where the other ended supersedes nothing', () => {
    const parts: CopilotPart[] = [step, text('kept'), { type: 'data-attempt', data: { attempt: 2 } }];
    expect(withoutSupersededSteps(parts)).toBe(parts);
  });

  test('the result of an operation is shown at its call, and not again where it arrived', () => {
    const started = response('a', [
      step,
      tool('output-available', { type: 'operation_started' }),
      text('Wait.'),
    ]);
    const ended = response('b', [
      step,
      tool('output-available', { file: 'chart.pdf' }),
      step,
      text('Printed.'),
    ]);
    const [first, second] = visibleMessages([started, ended], null);
    expect(first?.parts[1]).toMatchObject({ output: { file: 'chart.pdf' } });
    expect(second?.parts.some((part) => part.type === 'tool-print_chart')).toBe(false);
  });

  test('a running operation keeps its started state', () => {
    const started = response('a', [tool('output-available', { type: 'operation_started' })]);
    const [first] = visibleMessages([started, response('b', [tool('input-available')])], null);
    expect(first?.parts[0]).toMatchObject({ output: { type: 'operation_started' } });
    const stage = {
      ...tool('output-available', { type: 'agent_progress' }),
      preliminary: true,
    } as CopilotPart;
    const [same] = visibleMessages([started, response('b', [stage])], null);
    expect(same?.parts[0]).toMatchObject({ output: { type: 'operation_started' } });
  });

  test('the response from before a replay stays until the replay has caught up', () => {
    const beforeReplay = response('a', [step, text('The tide comes in')]);
    expect(visibleMessages([response('a', [])], beforeReplay)).toEqual([beforeReplay]);
    expect(visibleMessages([response('a', [step, text('The tide')])], beforeReplay)).toEqual([beforeReplay]);
    const further = response('a', [step, text('The tide comes in and goes out')]);
    expect(visibleMessages([further], beforeReplay)).toEqual([further]);
  });

  test('a follow-up delivered during the response is not shown before it as well', () => {
    const drained: CopilotPart = {
      type: 'data-pending-drained',
      data: { count: 1, messages: [{ id: 'f', text: 'And?' }] },
    };
    const list = visibleMessages(
      [userMessage('q', 'Begin'), userMessage('f', 'And?'), response('a', [drained])],
      null,
    );
    expect(list.map((message) => message.id)).toEqual(['q', 'a']);
  });

  test('unchanged messages stay the same objects', () => {
    const list = [userMessage('q', 'Begin'), response('a', [step, text('One')])];
    visibleMessages(list, null).forEach((message, index) => {
      expect(message).toBe(list[index]);
    });
  });
});
