// One browser for all files: started before the first, closed after the last. Each test has its own context.

import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The WebSocket endpoint of the browser. */
    browser: string;
  }
}

const USUAL_PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const executablePath = process.env.CHROMIUM ?? USUAL_PATHS.find((path) => existsSync(path));
  if (!executablePath) throw new Error('Chromium not found: install it, or set CHROMIUM to its path.');
  // Chromium's sandbox needs rights that containers and root don't have; it opens only our own pages.
  const browser = await chromium.launchServer({ executablePath, args: ['--no-sandbox'] });
  project.provide('browser', browser.wsEndpoint());
  return () => browser.close();
}
