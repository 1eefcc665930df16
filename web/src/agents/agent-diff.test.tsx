import { render, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { AgentDiff } from '@/protocol';
import { changeLines, consequences } from './agent-diff';
import { AgentDiffView } from './agent-diff-view';

const NO_FIELDS = { added: [], removed: [], changed: [], breaking: false };
const FREE = { credits: 0, is_minimum: false };
const EMPTY: AgentDiff = {
  about: [],
  steps: { added: [], removed: [], renamed: [], changed: [] },
  links: { added: [], removed: [] },
  interface: { inputs: NO_FIELDS, outputs: NO_FIELDS },
  effects: { added: [], removed: [] },
  credentials: { added: [], removed: [] },
  cost: { from: FREE, to: FREE },
  used_by: [],
};

const FULL: AgentDiff = {
  about: [{ field: 'name', from: 'Tides', to: 'Evening tides' }],
  steps: {
    added: [{ step: 'send', block: 'Send Web Request', pins: [{ pin: 'url', value: 'https://a.example' }] }],
    removed: [{ step: 'log', block: 'Print To Console', pins: [] }],
    renamed: [{ from: 'hi', to: 'high' }],
    changed: [
      { step: 'high', block: { from: 'Calculator', to: 'Condition' }, pins: [{ pin: 'b', from: 1, to: 2 }] },
      { step: 'low', pins: [{ pin: 'c', to: true }] },
    ],
  },
  links: { added: [{ from: 'high.result', to: 'send.body' }], removed: [{ from: 'a.b', to: 'c.d' }] },
  interface: {
    inputs: {
      added: [{ name: 'height', schema: { type: 'number' }, required: true }],
      removed: [],
      changed: [
        {
          from: { name: 'harbor', schema: { type: 'string' }, required: true },
          to: { name: 'port', schema: { type: 'string', default: 'Brest' }, required: false },
        },
      ],
      breaking: true,
    },
    outputs: NO_FIELDS,
  },
  effects: {
    added: [{ step: 'send', block: 'Send Web Request', effect: 'once', sensitive: true }],
    removed: [],
  },
  credentials: { added: [{ provider: 'smtp', steps: ['mail', 'copy'] }], removed: [] },
  cost: { from: { credits: 1, is_minimum: false }, to: { credits: 3, is_minimum: true } },
  used_by: [
    { kind: 'agent', id: 'a', name: 'Harbor master', version: 2 },
    { kind: 'schedule', id: 's', name: 'Every morning' },
  ],
};

test('every change is a line', () => {
  expect(changeLines(FULL).map(({ text }) => text)).toEqual([
    '~ name: "Tides" → "Evening tides"',
    '+ step send: Send Web Request',
    '    url: "https://a.example"',
    '- step log: Print To Console',
    '~ step hi is now high',
    '~ step high: Calculator → Condition',
    '~ high.b: 1 → 2',
    '~ low.c: nothing → true',
    '+ link high.result → send.body',
    '- link a.b → c.d',
    '+ input height: number, required',
    '~ input harbor is now port',
    '~ input port: string, required → string, "Brest" by default',
  ]);
});

test('what a change means is said in sentences', () => {
  expect(consequences(FULL).map(({ text }) => text)).toEqual([
    'New effect outside this server: send (Send Web Request), which may need approval.',
    'Needs credentials for smtp (mail, copy).',
    'The inputs no longer fit those who run the agent as it was.',
    'A run costs at least 3 credits, before 1 credit.',
    'The agent “Harbor master” keeps using version 2.',
    'The schedule “Every morning” will use this version.',
  ]);
});

test('equal agents have no changes, whoever uses them', () => {
  render(<AgentDiffView diff={{ ...EMPTY, used_by: FULL.used_by }} />);
  expect(screen.getByText('No changes.')).toBeDefined();
  expect(consequences({ ...EMPTY, used_by: FULL.used_by })).toEqual([]);
});

test('changes and their consequences are shown', () => {
  render(<AgentDiffView diff={FULL} />);
  expect(screen.getByText('+ step send: Send Web Request').className).toContain('text-good');
  expect(screen.getByText('What this means')).toBeDefined();
  expect(screen.getByText('Needs credentials for smtp (mail, copy).')).toBeDefined();
});
