// Tests of the harness itself: a check that can't fail proves nothing.

import { expect, NO_CONNECTION, test } from './harness';

test('an error in the console is recorded', async ({ visitor }) => {
  const page = await visitor.open('/copilot');
  await page.evaluate(() => console.error('something is wrong'));
  await expect
    .poll(() => visitor.unexpectedErrors())
    .toContainEqual(expect.stringContaining('something is wrong'));
  visitor.expectErrors(/something is wrong/);
});

test('a style that violates the content security policy is recorded', async ({ visitor }) => {
  const page = await visitor.open('/copilot');
  await page.evaluate(() => {
    const style = document.createElement('style');
    style.textContent = 'body { color: red }';
    document.head.append(style);
  });
  await expect
    .poll(() => visitor.unexpectedErrors())
    .toContainEqual(expect.stringMatching(/policy violated: style-src/));
  visitor.expectErrors(/Content Security Policy|policy violated/);
});

test('a disconnected proxy breaks open streams, and a reconnected one works again', async ({
  visitor,
  server,
}) => {
  visitor.expectErrors(NO_CONNECTION);
  const page = await visitor.open('/copilot');
  const read = page.evaluate(async () => {
    const post = (path: string, body: object) =>
      fetch(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const { id } = await (await post('/api/chat/sessions', {})).json();
    const stream = await post(`/api/chat/sessions/${id}/stream`, { message: '/stream delay_ms=100' });
    const reader = stream.body?.getReader();
    await reader?.read();
    document.title = 'reading';
    try {
      while (!(await reader?.read())?.done);
      return 'ended';
    } catch (error) {
      return String(error);
    }
  });
  await expect.poll(() => page.title()).toBe('reading');
  server.proxy.disconnect();
  expect(await read).toMatch(/network error/);
  server.proxy.reconnect();
  expect(await page.evaluate(async () => (await fetch('/api/chat/sessions')).status)).toBe(200);
});
