// Every page, empty and with something on it, for those who cannot see or have no mouse, in both themes and on a
// phone. The harness watches for errors and for violations of the content security policy by itself.

import type { Page } from 'playwright-core';
import { checkAccessible, DESK, expect, PHONE, test } from '../harness';
import { call } from '../harness/call';
import type { Server } from '../harness/server';
import { type Agent, addExample, run } from './agents';
import { PLACES } from './places';

const LOOKS = [
  { name: 'on a desk in the light', viewport: DESK, colorScheme: 'light' },
  { name: 'on a desk in the dark', viewport: DESK, colorScheme: 'dark' },
  { name: 'on a phone in the light', viewport: PHONE, colorScheme: 'light' },
  { name: 'on a phone in the dark', viewport: PHONE, colorScheme: 'dark' },
] as const;

/** The style guide is long, and axe looks at every part of it. */
const PATIENCE_MS = 120_000;

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
