import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { EXAMPLES, freePort, openPage, SLOW, SLOW_LENGTH, startProgram, startServer, storedTexts, until, untilAnswers } from './support.mjs';

const NEXT = join(EXAMPLES, 'nextjs/node_modules/next/dist/bin/next');

test('the Next.js page streams a response and continues it after a reload', async (t) => {
  const server = await startServer(t);
  const port = await freePort();
  const app = startProgram(t, process.execPath, [NEXT, 'start', '--hostname', '127.0.0.1', '--port', String(port)], {
    cwd: join(EXAMPLES, 'nextjs'),
    env: { ...process.env, PILOTHOUSE_URL: server, NEXT_TELEMETRY_DISABLED: '1' },
  });
  const url = `http://127.0.0.1:${port}`;
  await untilAnswers(url, app);
  const foreign = { method: 'POST', headers: { 'sec-fetch-site': 'cross-site' } };
  assert.equal((await fetch(`${url}/api/chat/sessions`, foreign)).status, 403, 'a page of another site is refused');
  const page = await openPage(t);
  await page.goto(url);

  await page.getByLabel('Message').fill(SLOW);
  await page.getByRole('button', { name: 'Send' }).click();
  const response = page.locator('article[data-role=assistant] p');
  const length = async () => (await response.allTextContents()).join('').length;
  const early = await until(length, 'no text');
  assert.ok(early < SLOW_LENGTH, 'the text is shown while it arrives');

  await page.reload();
  await page.locator('main[data-status=streaming]').waitFor();
  await page.locator('main[data-status=ready]').waitFor();
  const session = new URL(page.url()).searchParams.get('session');
  const { user, assistant } = await storedTexts(server, session);
  assert.deepEqual(user, [SLOW]);
  assert.equal(assistant.join('').length, SLOW_LENGTH);
  assert.deepEqual(await response.allTextContents(), assistant);

  // The button stops the turn on the server.
  await page.getByLabel('Message').fill(SLOW);
  await page.getByRole('button', { name: 'Send' }).click();
  await until(async () => (await response.count()) === 2, 'no text of the second response');
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('button', { name: 'Send' }).waitFor();
  const stopped = await storedTexts(server, session);
  assert.ok(stopped.assistant.join('').length < 2 * SLOW_LENGTH, 'the second response is incomplete');
});
