import { expect, test } from 'vitest';
import type { CopilotPart } from '@/session/types';
import { hasOpenOperation } from './operations-open';

function answered(output: unknown): CopilotPart {
  return { type: 'tool-print_chart', toolCallId: 'c', state: 'output-available', input: {}, output };
}

test('work that was started or stands in the history as pending is open', () => {
  expect(hasOpenOperation([answered({ type: 'operation_started' })])).toBe(true);
  expect(hasOpenOperation([answered({ type: 'operation_pending' })])).toBe(true);
  expect(hasOpenOperation([answered('{"type":"operation_pending"}')])).toBe(true);
});

test('what only tells of an operation stays in the history for ever, and is not open', () => {
  expect(hasOpenOperation([answered({ type: 'operation_status', status: 'running' })])).toBe(false);
  expect(hasOpenOperation([answered({ type: 'operation_in_progress' })])).toBe(false);
});

test('words, calls without a result and results of all kinds are not open', () => {
  expect(
    hasOpenOperation([
      { type: 'text', text: 'operation_started' },
      { type: 'tool-print_chart', toolCallId: 'c', state: 'input-available', input: {} },
      answered(null),
      answered('operation_started'),
      answered({ type: 'external_tool_output' }),
    ]),
  ).toBe(false);
});
