import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { cuttingProxy, EXAMPLES, openPage, SLOW, SLOW_LENGTH, startServer, storedTexts, until } from './support.mjs';

test('the HTML page shows a whole response after a cut, and after a reload', async (t) => {
  const origin = await servePage(t);
  const server = await startServer(t, { CORS_ORIGINS: origin });
  const proxy = await cuttingProxy(t, server, 2500);
  const page = await openPage(t);
  await page.goto(`${origin}/?server=${proxy.url}`);

  await page.getByLabel('Message').fill(SLOW);
  await page.getByRole('button', { name: 'Send' }).click();
  const response = page.locator('article[data-author=Pilothouse] span');
  await until(async () => (await page.getByRole('button', { name: 'Send' }).isEnabled()) && response.count(), 'no end');
  assert.equal(proxy.cuts, 1, 'the connection was cut');
  const text = await response.textContent();
  assert.equal(text.length, SLOW_LENGTH);
  const session = new URL(page.url()).hash.slice(1);
  assert.deepEqual(await storedTexts(server, session), { user: [SLOW], assistant: [text] });

  // A reload during the next response continues it.
  await page.getByLabel('Message').fill(SLOW);
  await page.getByRole('button', { name: 'Send' }).click();
  await until(async () => (await response.count()) === 2 && (await response.last().textContent()).length > 50, 'no text');
  await page.reload();
  await until(async () => (await response.count()) === 2 && (await page.getByRole('button', { name: 'Send' }).isEnabled()), 'no end');
  assert.deepEqual(await response.allTextContents(), [text, text]);
});

async function servePage(t) {
  const document = await readFile(join(EXAMPLES, 'html/index.html'));
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(document);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}`;
}
