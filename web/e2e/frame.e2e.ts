import { checkAccessible, expect, PHONE, test } from './harness';

test('the root URL redirects to the copilot', async ({ visitor }) => {
  const page = await visitor.open('/');
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
  await expect.poll(() => new URL(page.url()).pathname).toBe('/copilot');
});

test('an unknown URL shows an error page with a link back', async ({ visitor }) => {
  const page = await visitor.open('/no-such-page');
  await page.getByRole('heading', { name: 'Page not found' }).waitFor();
  await page.getByRole('link', { name: 'Back to Copilot' }).click();
  await page.waitForURL('**/copilot');
});

test('the frame is accessible, also on a phone and in the dark theme', async ({ newVisitor }) => {
  for (const options of [{}, { viewport: PHONE, colorScheme: 'dark' as const }]) {
    const visitor = await newVisitor(options);
    const page = await visitor.open('/no-such-page');
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await checkAccessible(page);
  }
});
