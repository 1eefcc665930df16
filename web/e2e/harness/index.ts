// The test fixtures: `server`, one per file; `visitor`, a fresh browser context per test; and `arrive` for further
// visitors. A file that needs other settings calls `test.override('settings', { … })`.

import { type BrowserContextOptions, chromium } from 'playwright-core';
import { test as base, inject } from 'vitest';
import { Server, type Settings } from './server';
import { Visitor } from './visitor';

export { expect } from 'vitest';
export { checkAccessible } from './axe';
export { isDistributed } from './server';
export { DESK, NO_CONNECTION, PHONE, type Visitor } from './visitor';

const NO_SETTINGS: Settings = {};

export const test = base
  .extend('settings', { scope: 'file' }, NO_SETTINGS)
  .extend('endpoint', { scope: 'file' }, () => inject('browser'))
  .extend('browser', { scope: 'file' }, async ({ endpoint }, { onCleanup }) => {
    const browser = await chromium.connect(endpoint);
    onCleanup(() => browser.close());
    return browser;
  })
  .extend('server', { scope: 'file' }, async ({ settings }, { onCleanup }) => {
    const server = await Server.start(settings);
    onCleanup(() => server.close());
    return server;
  })
  .extend('arrive', async ({ server, browser, task }, { onCleanup }) => {
    const visitors: Visitor[] = [];
    onCleanup(async () => {
      // When a cleanup throws, it is run a second time, which then has nothing to do.
      const present = visitors.splice(0);
      if (task.result?.state === 'fail') {
        for (const visitor of present) await visitor.photograph(task.name);
        const log = await server.log();
        if (log) console.error(`The server has said:\n${log}`);
      }
      for (const visitor of present) await visitor.leave();
      server.line.mend();
      const mishaps = present.flatMap((visitor) => visitor.mishaps());
      if (mishaps.length > 0) throw new Error(`The page had mishaps:\n${mishaps.join('\n')}`);
    });
    return async (options?: BrowserContextOptions) => {
      const visitor = await Visitor.arrive(server, browser, options);
      visitors.push(visitor);
      return visitor;
    };
  })
  .extend('visitor', ({ arrive }) => arrive());
