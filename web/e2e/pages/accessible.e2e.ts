// Accessibility and overflow checks of every page, in both themes, on desktop and phone. The harness also fails on
// console errors and on violations of the content security policy.

import type { Page } from 'playwright-core';
import { checkAccessible, DESKTOP, expect, PHONE, test } from '../harness';
import { requestJson } from '../harness/requests';
import type { Server } from '../harness/server';
import { type Agent, addExample, run } from './agents';
import { breakLink, createAgent } from './building';
import { PAGES } from './page-list';

const VIEWS = [
  { name: 'desktop, light', viewport: DESKTOP, colorScheme: 'light' },
  { name: 'desktop, dark', viewport: DESKTOP, colorScheme: 'dark' },
  { name: 'phone, light', viewport: PHONE, colorScheme: 'light' },
  { name: 'phone, dark', viewport: PHONE, colorScheme: 'dark' },
] as const;

/** The style guide is long, and axe checks every element. */
const TIMEOUT_MS = 120_000;

/** Content for every page, created once. */
type Content = [Agent, run: string, session: string, draft: string];
let prepared: Promise<Content> | undefined;
function prepare(server: Server): Promise<Content> {
  prepared ??= (async () => {
    const agent = await addExample(server, 'approval-letter');
    const waitingRun = await run(server, agent);
    const { id } = await requestJson<{ id: string }>(server, '/chat/sessions', {});
    const turn = await fetch(`${server.url}/api/chat/sessions/${id}/stream`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ message: '/help' }),
    });
    await turn.text();
    const draft = await createAgent(server);
    await breakLink(server, draft);
    return [agent, waitingRun, id, draft];
  })();
  return prepared;
}

/** Horizontal overflow of the page in pixels. */
function overflow(page: Page): Promise<number> {
  return page.evaluate(() => {
    const scrollers = [document.documentElement, ...document.querySelectorAll('main > div')];
    return Math.max(...scrollers.map((element) => element.scrollWidth - element.clientWidth));
  });
}

for (const { name, path, ready, trouble } of PAGES) {
  for (const { name: view, ...options } of VIEWS) {
    test(`${name} passes axe and does not scroll sideways, ${view}`, {
      timeout: TIMEOUT_MS,
    }, async ({ newVisitor, server }) => {
      const visitor = await newVisitor(options);
      if (trouble) visitor.expectErrors(trouble);
      const page = await visitor.open(path(...(await prepare(server))));
      await page.getByText(ready).or(page.getByLabel(ready)).first().waitFor();
      await checkAccessible(page);
      expect(await overflow(page)).toBeLessThanOrEqual(0);
    });
  }
}
