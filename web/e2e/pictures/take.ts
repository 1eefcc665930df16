// Takes one picture of the documentation, when the page has loaded everything.

import { join } from 'node:path';
import type { Page } from 'playwright-core';

const FOLDER = process.env.PICTURES ?? '';

export async function take(page: Page, name: string): Promise<void> {
  await page.getByRole('heading').first().waitFor();
  await page.waitForLoadState('networkidle');
  // Waits until no placeholder is left.
  await page.locator('.animate-pulse.bg-sunken').first().waitFor({ state: 'detached' });
  await page.screenshot({ path: join(FOLDER, `${name}.png`), animations: 'disabled', caret: 'hide' });
}
