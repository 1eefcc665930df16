import { NO_CONNECTION, test } from '../harness';
import { requestJson } from '../harness/requests';

test('a running turn is shown with a link to its session', async ({ visitor, server }) => {
  const { id } = await requestJson<{ id: string }>(server, '/chat/sessions', {});
  const abort = new AbortController();
  const turn = fetch(`${server.url}/api/chat/sessions/${id}/stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ message: '/stream count=400 size=20 delay_ms=50' }),
    signal: abort.signal,
  });
  const page = await visitor.open('/ops');
  const row = page.getByRole('row', { name: new RegExp(id) });
  await row.getByText('running').waitFor();
  await row.getByRole('link', { name: id }).click();
  await page.waitForURL(`**/copilot?sessionId=${id}`);
  await requestJson(server, `/chat/sessions/${id}/cancel`, {});
  abort.abort();
  await turn.catch(() => {});
});

test('the last values stay while the server is unreachable, and updates resume afterwards', async ({
  visitor,
  server,
}) => {
  visitor.expectErrors(NO_CONNECTION);
  const page = await visitor.open('/ops');
  await page.getByText('Active responses', { exact: true }).waitFor();
  server.proxy.disconnect();
  await page.getByText(/Last updated at/).waitFor();
  await page.getByText('Active responses', { exact: true }).waitFor();
  server.proxy.reconnect();
  await page.getByText('Updates every 2 seconds.').waitFor();
});
