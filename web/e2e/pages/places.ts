// The pages that are walked through, empty or with something on them. `places.e2e.ts` says when one is missing.

import type { Agent } from './agents';

type Place = {
  name: string;
  path: (agent: Agent, run: string, session: string) => string;
  ready: string;
  trouble?: RegExp;
};

export const PLACES: Place[] = [
  { name: 'a new chat', path: () => '/copilot', ready: 'Message' },
  { name: 'a session', path: (_, __, session) => `/copilot?sessionId=${session}`, ready: 'Commands' },
  { name: 'the library', path: () => '/library', ready: 'Approval letter' },
  { name: 'an agent', path: ({ id }) => `/library/agents/${id}`, ready: 'Inputs' },
  {
    name: 'a run that waits',
    path: ({ id }, run) => `/library/agents/${id}?activeTab=runs&activeItem=${run}`,
    ready: 'Remark (optional)',
  },
  { name: 'its graph', path: ({ id }) => `/library/agents/${id}?activeTab=graph`, ready: 'Ask for approval' },
  {
    name: 'the builder',
    path: ({ graph_id }) => `/build?flowID=${graph_id}`,
    ready: 'Ask for approval',
    // The versions of somebody else's agent are not shown to others.
    trouble: /status of 404.*\/versions\)/,
  },
  { name: 'the marketplace', path: () => '/marketplace', ready: 'Invoice calculator' },
  {
    name: 'a listing',
    path: () => '/marketplace/agent/pilothouse/approval-letter',
    ready: 'Open in library',
  },
  { name: 'the reviews', path: () => '/reviews', ready: 'Remark (optional)' },
  { name: 'the settings', path: () => '/settings', ready: 'The numbers as a table' },
  { name: 'operations', path: () => '/ops', ready: 'Dependencies' },
  { name: 'the style guide', path: () => '/styleguide', ready: 'Style guide' },
];
