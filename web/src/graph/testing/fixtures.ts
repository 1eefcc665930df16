// Values of the API for tests of the graph page.

import type { AgentDiff, GraphProblem, RehearsalReport, ValidationBody } from '@/protocol';

const NO_FIELDS = { added: [], removed: [], changed: [], breaking: false };
const FREE = { credits: 0, is_minimum: false };

export const NO_DIFF: AgentDiff = {
  about: [],
  steps: { added: [], removed: [], renamed: [], changed: [] },
  links: { added: [], removed: [] },
  interface: { inputs: NO_FIELDS, outputs: NO_FIELDS },
  effects: { added: [], removed: [] },
  credentials: { added: [], removed: [] },
  cost: { from: FREE, to: FREE },
  used_by: [],
};

/** One step has another value. */
export function changedValue(from: unknown, to: unknown): AgentDiff {
  return {
    ...NO_DIFF,
    steps: { ...NO_DIFF.steps, changed: [{ step: 'high', pins: [{ pin: 'b', from, to }] }] },
  };
}

const NO_NEEDS = { credentials: [], blocks: [], agents: [] };

export const VALID: ValidationBody = {
  valid: true,
  state: 'valid',
  errors: [],
  warnings: [],
  needs: NO_NEEDS,
};

/** A link from an output that its block does not have. */
export const WRONG_LINK: GraphProblem = {
  code: 'unknown_output',
  path: 'steps.tell.text',
  node_id: 'tell',
  link_id: 'l1',
  step: 'tell',
  message: 'The block has no output `reslt`. Did you mean `result`?',
  expected: 'result',
  got: 'reslt',
  edit: { op: 'set', step: 'tell', pin: 'text', value: 'read.result' },
};

export const NO_OUTPUTS: GraphProblem = { code: 'no_outputs', message: 'The agent has no outputs.' };

export const INVALID: ValidationBody = {
  ...VALID,
  valid: false,
  state: 'draft',
  errors: [WRONG_LINK, NO_OUTPUTS],
};

export const REPORT: RehearsalReport = {
  execution_id: 'e',
  state: 'rehearsed',
  nodes_fired: ['page', 'high'],
  not_fired: ['mail'],
  branches: [
    { step: 'check', pin: 'yes_output', taken: true },
    { step: 'check', pin: 'no_output', taken: false },
  ],
  outputs: { tide: ['4.2 m'] },
  unfilled: ['alarm'],
  failed: [{ step: 'send', node_id: 'n', error: 'No address.' }],
  answered: [{ step: 'page', by: 'sample' }],
  made_inputs: { harbor: 'Brest' },
  runs: [
    { execution_id: 'e', varied: [], filled: ['tide'], failed: [] },
    {
      execution_id: 'e2',
      varied: [
        { kind: 'input', name: 'height', value: 4 },
        { kind: 'rejection', name: 'approve' },
      ],
      filled: ['alarm'],
      failed: [],
    },
    {
      execution_id: 'e3',
      varied: [
        { kind: 'answer', name: 'page', pin: 'client_error' },
        { kind: 'failure', name: 'send' },
      ],
      filled: [],
      failed: [],
    },
  ],
  failures: [
    {
      step: 'page',
      execution_id: 'f',
      unfilled: ['tide'],
      failed: [{ step: 'high', node_id: 'h', error: 'No page.' }],
    },
    { step: 'send', execution_id: 'f2', unfilled: [], failed: [] },
  ],
};
