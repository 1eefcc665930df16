// The test fixtures: `server`, one per file; `visitor`, a fresh browser context per test; and `newVisitor` for further
// visitors. A file that needs other settings calls `test.override('settings', { … })`.

import { type BrowserContextOptions, chromium } from 'playwright-core';
import { test as base, inject } from 'vitest';
import { Server, type Settings } from './server';
import { Visitor } from './visitor';

export { expect } from 'vitest';
export { checkAccessible } from './axe';
export { isDistributed } from './server';
export { DESKTOP, NO_CONNECTION, PHONE, type Visitor } from './visitor';

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
  .extend('newVisitor', async ({ server, browser, task }, { onCleanup }) => {
    const visitors: Visitor[] = [];
    onCleanup(async () => {
      // When a cleanup throws, it is run a second time, which then has nothing to do.
      const open = visitors.splice(0);
      if (task.result?.state === 'fail') {
        for (const visitor of open) await visitor.screenshot(task.name);
        const log = await server.log();
        if (log) console.error(`Server log:\n${log}`);
      }
      for (const visitor of open) await visitor.close();
      server.proxy.reconnect();
      const unexpectedErrors = open.flatMap((visitor) => visitor.unexpectedErrors());
      if (unexpectedErrors.length > 0)
        throw new Error(`Unexpected errors on the page:\n${unexpectedErrors.join('\n')}`);
    });
    return async (options?: BrowserContextOptions) => {
      const visitor = await Visitor.create(server, browser, options);
      visitors.push(visitor);
      return visitor;
    };
  })
  .extend('visitor', ({ newVisitor }) => newVisitor());
