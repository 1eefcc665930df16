// Every page, empty and with something on it, for those who cannot see or have no mouse, in both themes and on a
// phone. The harness watches for errors and for violations of the content security policy by itself.

import type { Page } from 'playwright-core';
import { checkAccessible, DESK, expect, PHONE, test } from '../harness';
import type { Server } from '../harness/server';
import { type Agent, addExample, call, run } from './agents';

const LOOKS = [
  { name: 'on a desk in the light', viewport: DESK, colorScheme: 'light' },
  { name: 'on a desk in the dark', viewport: DESK, colorScheme: 'dark' },
  { name: 'on a phone in the light', viewport: PHONE, colorScheme: 'light' },
  { name: 'on a phone in the dark', viewport: PHONE, colorScheme: 'dark' },
] as const;

/** The style guide is long, and axe looks at every part of it. */
const PATIENCE_MS = 120_000;

type Place = {
  name: string;
  path: (agent: Agent, run: string, session: string) => string;
  ready: string;
  trouble?: RegExp;
};

const PLACES: Place[] = [
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

/** Something to look at on every page, made once. */
let made: Promise<[Agent, string, string]> | undefined;
function prepare(server: Server): Promise<[Agent, string, string]> {
  made ??= (async () => {
    const agent = await addExample(server, 'approval-letter');
    const waits = await run(server, agent);
    const { id } = await call<{ id: string }>(server, '/chat/sessions', {});
    const turn = await fetch(`${server.url}/api/chat/sessions/${id}/stream`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ message: '/help' }),
    });
    await turn.text();
    return [agent, waits, id];
  })();
  return made;
}

/** How much wider the content is than the room for it, where that is not meant to scroll. */
function overflow(page: Page): Promise<number> {
  return page.evaluate(() => {
    const scrollers = [document.documentElement, ...document.querySelectorAll('main > div')];
    return Math.max(...scrollers.map((element) => element.scrollWidth - element.clientWidth));
  });
}

for (const { name, path, ready, trouble } of PLACES) {
  for (const { name: look, ...options } of LOOKS) {
    test(`${name} has no barriers and needs no sideways scrolling, ${look}`, {
      timeout: PATIENCE_MS,
    }, async ({ arrive, server }) => {
      const visitor = await arrive(options);
      if (trouble) visitor.expectTrouble(trouble);
      const page = await visitor.open(path(...(await prepare(server))));
      await page.getByText(ready).or(page.getByLabel(ready)).first().waitFor();
      await checkAccessible(page);
      expect(await overflow(page)).toBeLessThanOrEqual(0);
    });
  }
}
