import { NO_CONNECTION, test } from '../harness';
import { call } from '../harness/call';

test('a turn at work is shown with the way to its session', async ({ visitor, server }) => {
  const { id } = await call<{ id: string }>(server, '/chat/sessions', {});
  const leave = new AbortController();
  const turn = fetch(`${server.url}/api/chat/sessions/${id}/stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ message: '/stream count=400 size=20 delay_ms=50' }),
    signal: leave.signal,
  });
  const page = await visitor.open('/ops');
  const row = page.getByRole('row', { name: new RegExp(id) });
  await row.getByText('running').waitFor();
  await row.getByRole('link', { name: id }).click();
  await page.waitForURL(`**/copilot?sessionId=${id}`);
  await call(server, `/chat/sessions/${id}/cancel`, {});
  leave.abort();
  await turn.catch(() => {});
});

test('when the server goes away the last values stay, and it comes back by itself', async ({
  visitor,
  server,
}) => {
  visitor.expectTrouble(NO_CONNECTION);
  const page = await visitor.open('/ops');
  await page.getByText('Turns at work').waitFor();
  server.line.cut();
  await page.getByText('The server cannot be reached. These are the values of').waitFor();
  await page.getByText('Turns at work').waitFor();
  server.line.mend();
  await page.getByText('Live, every two seconds.').waitFor();
});
