// Checks accessibility with axe.

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';

const LEVELS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Throws with one line for each violation on the current page. */
export async function checkAccessible(page: Page): Promise<void> {
  const file = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
  // Evaluated by the debugger protocol, so the page's content security policy doesn't apply.
  await page.evaluate(await readFile(file, 'utf8'));
  const options: RunOptions = { runOnly: LEVELS, resultTypes: ['violations'] };
  const { violations } = await page.evaluate<AxeResults, RunOptions>(
    (options) => (window as unknown as { axe: typeof import('axe-core') }).axe.run(document, options),
    options,
  );
  const problems = violations.flatMap(({ id, help, nodes }) =>
    nodes.map(
      (node) =>
        `${id}: ${help}\n  ${node.html.slice(0, 200)}\n  ${node.failureSummary?.replace(/\n\s*/g, ' ')}`,
    ),
  );
  if (problems.length > 0)
    throw new Error(`axe found ${problems.length} accessibility problems:\n${problems.join('\n')}`);
}
