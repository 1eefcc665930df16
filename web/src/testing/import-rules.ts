// Which top folder of `src` may import which. A folder always may import itself. `check-imports.test.ts` checks this.

const BASE = ['lib', 'protocol'];
const SHARED = [...BASE, 'api', 'ui'];

export const MAY_IMPORT: Record<string, readonly string[]> = {
  lib: [],
  protocol: [],
  api: BASE,
  ui: [...BASE, 'api'],

  // Parts of several pages.
  session: [...BASE, 'api'],
  agents: SHARED,
  executions: SHARED,
  reviews: SHARED,
  graph: [...SHARED, 'agents', 'executions'],
  tools: [...SHARED, 'agents', 'graph', 'reviews'],

  // Pages, and what is around them.
  copilot: [...SHARED, 'session', 'tools'],
  library: [...SHARED, 'agents', 'executions', 'graph', 'reviews'],
  marketplace: [...SHARED, 'agents', 'graph'],
  ops: SHARED,
  'sign-in': [...SHARED, 'copilot', 'graph', 'session', 'tools'],
  settings: [...SHARED, 'sign-in'],
  shell: [...SHARED, 'reviews', 'sign-in'],
  styleguide: [...SHARED, 'copilot', 'session', 'tools'],
};

/** Tests may also import these: their helpers, and the fixtures that the style guide shows. */
export const TESTS_MAY_IMPORT = ['testing', 'styleguide'];
