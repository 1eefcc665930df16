import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answersMessage, decidedMessage, goalMessage, keepGoalMessage, runMessage } from './messages';

// The offline pilot parses these messages: a test of the server reads the same file.
const BUILDERS = { decidedMessage, goalMessage, keepGoalMessage, runMessage };
type Request = { by: keyof typeof BUILDERS; from: unknown[]; message: string };
const REQUESTS: Request[] = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../fixtures/requests.json'), 'utf8'),
);

test.each(REQUESTS)(
  '$by builds the message that the offline pilot parses: $message',
  ({ by, from, message }) => {
    const build = BUILDERS[by] as (...from: unknown[]) => string;
    expect(build(...from)).toBe(message);
  },
);

test('one answer is sent alone, several are sent with their questions', () => {
  expect(answersMessage([{ question: 'Where?', answer: ' Brest ' }])).toBe('Brest');
  expect(
    answersMessage([
      { question: 'Where?', answer: 'Brest' },
      { question: 'When?', answer: 'Now' },
    ]),
  ).toBe('Where?\nBrest\n\nWhen?\nNow');
});

test('a question without an answer is left out, and the answered one keeps its question', () => {
  const answers = [
    { question: 'Where?', answer: 'Brest' },
    { question: 'When?', answer: '  ' },
  ];
  expect(answersMessage(answers)).toBe('Where?\nBrest');
});

test('a run request has the display name and the id', () => {
  const agent = { what: 'agent', name: 'Tides', id: 'harbor/tides' } as const;
  expect(runMessage(agent)).toBe('Run the agent “Tides” (harbor/tides).');
  expect(runMessage(agent, {})).toBe('Run the agent “Tides” (harbor/tides) with its defaults.');
  expect(runMessage({ what: 'block', name: '', id: 'b1' })).toBe('Run the block b1.');
});

test('inputs are written one per line without losing anything', () => {
  const inputs = { port: 'Brest', days: 3, note: 'two\nlines', at: [{ hour: 5 }], none: '' };
  expect(runMessage({ what: 'agent', name: 'Tides', id: 't' }, inputs)).toBe(
    'Run the agent “Tides” (t) with these inputs:\nport: Brest\ndays: 3\nnote: "two\\nlines"\nat: [{"hour":5}]\nnone: ""',
  );
});

test('text that could be read as another value is quoted', () => {
  const written = (value: unknown) =>
    runMessage({ what: 'agent', name: '', id: 't' }, { value }).split('value: ')[1];
  for (const text of [
    '007',
    '7',
    '-1.5',
    '.5',
    '+49 40',
    '3 days',
    'true',
    'null',
    '[1]',
    '{"a":1}',
    '[open',
  ])
    expect(written(text)).toBe(JSON.stringify(text));
  for (const value of [7, true, null, [1]]) expect(written(value)).toBe(JSON.stringify(value));
  for (const text of ['Brest', 'truely', 'v2', '- none', 'https://example.org/?a=1'])
    expect(written(text)).toBe(text);
});

test('a decision names its review, so that the copilot can continue it', () => {
  expect(decidedMessage('Send mail', 'r1', true)).toBe('I have approved Send mail (review r1). Continue.');
  expect(decidedMessage('Send mail', 'r1', false)).toContain('rejected');
});

test('a goal can be kept with or without its text', () => {
  expect(keepGoalMessage('Sail')).toBe('Keep my goal as it is: Sail');
  expect(keepGoalMessage(null)).toBe('Keep my goal as it is, and do what you can.');
});
