// The pages that the accessibility tests visit. `page-list.e2e.ts` fails if a route is missing.

import type { Agent } from './agents';

type PageVisit = {
  name: string;
  /** `draft` is the id of an agent of the user, whose second version has an error. */
  path: (agent: Agent, run: string, session: string, draft: string) => string;
  ready: string;
  trouble?: RegExp;
};

export const PAGES: PageVisit[] = [
  { name: 'a new chat', path: () => '/copilot', ready: 'Message' },
  { name: 'a chat', path: (_, __, session) => `/copilot?sessionId=${session}`, ready: 'Commands' },
  { name: 'the library', path: () => '/library', ready: 'Approval letter' },
  { name: 'an agent', path: ({ id }) => `/library/agents/${id}`, ready: 'Inputs' },
  {
    name: 'a run that needs approval',
    path: ({ id }, run) => `/library/agents/${id}?activeTab=runs&activeItem=${run}`,
    ready: 'Comment (optional)',
  },
  {
    name: 'the graph of an agent',
    path: ({ id }) => `/library/agents/${id}?activeTab=graph`,
    ready: 'Ask for approval',
  },
  {
    name: 'the graph page',
    path: ({ graph_id }) => `/build?flowID=${graph_id}`,
    ready: 'Ask for approval',
    // The versions of an agent are visible to its owner only.
    trouble: /status of 404.*\/versions\)/,
  },
  {
    name: 'the spec of an agent',
    path: ({ graph_id }) => `/build?flowID=${graph_id}&tab=spec`,
    ready: 'Agent spec',
    trouble: /status of 404.*\/versions\)/,
  },
  {
    name: 'an agent with an error',
    path: (_, __, ___, draft) => `/build?flowID=${draft}&flowVersion=2`,
    ready: 'Apply fix',
  },
  {
    name: 'the form to rehearse an agent',
    path: (_, __, ___, draft) => `/build?flowID=${draft}&tab=rehearse`,
    ready: 'Rehearse failures',
  },
  {
    name: 'the versions of an agent',
    path: (_, __, ___, draft) => `/build?flowID=${draft}&tab=versions`,
    ready: 'Restore version 1',
  },
  { name: 'a new agent', path: () => '/build?tab=spec', ready: 'Agent spec' },
  { name: 'the marketplace', path: () => '/marketplace', ready: 'Invoice calculator' },
  {
    name: 'a listing',
    path: () => '/marketplace/agent/pilothouse/approval-letter',
    ready: 'Open in library',
  },
  { name: 'the reviews', path: () => '/reviews', ready: 'Comment (optional)' },
  { name: 'the settings', path: () => '/settings', ready: 'View as table' },
  { name: 'operations', path: () => '/ops', ready: 'Dependencies' },
  { name: 'the style guide', path: () => '/styleguide', ready: 'Style guide' },
];
