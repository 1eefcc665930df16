import { expect, test } from 'vitest';
import { progressOfEvent, progressOfOutput } from './building-stages';

const output = (stage: string, more: object = {}) => ({ type: 'agent_progress', stage, ...more });

test.each([
  [output('planning', { detail: ' 3 steps ' }), { stage: 'planning', label: 'Planning', detail: '3 steps' }],
  [
    output('planning', { detail: 'Read\nWrite' }),
    { stage: 'planning', label: 'Planning', detail: 'Read, Write' },
  ],
  [output('repairing'), { stage: 'writing', label: 'Repairing the agent', detail: null }],
  [
    output('repairing', { round: 2 }),
    { stage: 'writing', label: 'Repairing the agent (attempt 2)', detail: null },
  ],
  [output('sailing'), null],
  [output('constructor'), null],
  [{ type: 'agent_progress' }, null],
  [{ type: 'agent_saved', stage: 'saving' }, null],
  ['text', null],
])('%j', (given, expected) => expect(progressOfOutput(given)).toEqual(expected));

test('only preliminary outputs of the stream are progress', () => {
  const event = (more: object) =>
    JSON.stringify({ type: 'tool-output-available', output: output('saving'), ...more });
  expect(progressOfEvent(event({ preliminary: true }))?.stage).toBe('saving');
  expect(progressOfEvent(event({}))).toBeNull();
  expect(progressOfEvent('{"type":"text-delta"}')).toBeNull();
  expect(progressOfEvent('not json')).toBeNull();
});
