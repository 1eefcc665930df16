// A browser context that opens pages and records everything that goes wrong in them.

import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import type { Server } from './server';

export const DESKTOP = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };

const TIMEOUT_MS = 15_000;
const SCREENSHOTS = join(tmpdir(), 'pilothouse-e2e-failures');

export class Visitor {
  private readonly errors: string[] = [];
  private readonly expected: RegExp[] = [];

  private constructor(
    readonly server: Server,
    private readonly context: BrowserContext,
  ) {
    context.on('page', (page) => this.watch(page));
  }

  static async create(
    server: Server,
    browser: Browser,
    options: BrowserContextOptions = {},
  ): Promise<Visitor> {
    const context = await browser.newContext({
      baseURL: server.proxy.url,
      viewport: DESKTOP,
      locale: 'en-GB',
      // Without animations, elements can be clicked at once.
      reducedMotion: 'reduce',
      ...options,
    });
    context.setDefaultTimeout(TIMEOUT_MS);
    await context.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (event) => {
        console.error(`policy violated: ${event.violatedDirective} by ${event.blockedURI} ${event.sample}`);
      });
    });
    return new Visitor(server, context);
  }

  /** Opens a new tab. */
  async open(path: string): Promise<Page> {
    const page = await this.context.newPage();
    await page.goto(path);
    return page;
  }

  /** Sets the browser's offline mode, which leaves open streams alone. `server.proxy.disconnect()` breaks those as well. */
  async offline(isOffline: boolean): Promise<void> {
    await this.context.setOffline(isOffline);
  }

  /** Errors that the test causes on purpose, such as failed requests while the proxy is disconnected. */
  expectErrors(...patterns: RegExp[]): void {
    this.expected.push(...patterns);
  }

  /** The recorded errors that weren't expected. */
  unexpectedErrors(): string[] {
    return this.errors.filter((error) => !this.expected.some((pattern) => pattern.test(error)));
  }

  /** Takes a screenshot of every tab, for diagnosing a failed test. */
  async screenshot(name: string): Promise<void> {
    await mkdir(SCREENSHOTS, { recursive: true });
    for (const [index, page] of this.context.pages().entries()) {
      const path = join(SCREENSHOTS, `${name.replace(/[^a-z0-9]+/gi, '-').slice(0, 100)}-${index + 1}.png`);
      await page.screenshot({ path }).then(
        () => console.error(`The page when it failed: ${path}`),
        (error: unknown) => console.error(`No screenshot of the page: ${error}`),
      );
    }
  }

  async close(): Promise<void> {
    await this.context.close();
  }

  private watch(page: Page): void {
    page.on('pageerror', (error) => this.errors.push(`error: ${error.stack ?? error.message}`));
    page.on('crash', () => this.errors.push('the page crashed'));
    page.on('console', (message) => {
      if (message.type() === 'error')
        this.errors.push(`console: ${message.text()} (${message.location().url})`);
    });
  }
}

/** The console message for a request that couldn't connect. */
export const NO_CONNECTION = /Failed to load resource: net::ERR_/;
