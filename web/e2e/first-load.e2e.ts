import type { Page, Request } from 'playwright-core';
import { expect, test } from './harness';

/** Compressed size, as transferred. */
const LIMIT = 300_000;

test('the first load fetches less than 300 kB of script', async ({ visitor }) => {
  const page = await visitor.open('about:blank');
  const scripts = scriptsOf(page);
  await page.goto('/copilot', { waitUntil: 'networkidle' });
  await page.getByRole('form', { name: 'Message' }).waitFor();
  const sizes = await Promise.all(scripts.map(async (script) => (await script.sizes()).responseBodySize));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  expect(total, 'the scripts were seen').toBeGreaterThan(LIMIT / 10);
  expect(total).toBeLessThan(LIMIT);
});

function scriptsOf(page: Page): Request[] {
  const scripts: Request[] = [];
  page.on('requestfinished', (request) => {
    if (request.resourceType() === 'script') scripts.push(request);
  });
  return scripts;
}
