import { Copilot } from '../copilot/copilot';
import { expect, test } from '../harness';
import { requestJson } from '../harness/requests';
import { addExample } from './agents';

const WEB_REQUEST = '6595ae1f-b924-42cb-9a41-551a0611c4b4';

type Review = { node_exec_id: string; status: string; payload: { url?: string }; was_edited: boolean };

/** Reviews of blocks that the copilot runs in this session. */
async function reviewsOf(copilot: Copilot, server: Parameters<typeof requestJson>[0]): Promise<Review[]> {
  return requestJson(server, `/review/execution/copilot-session-${await copilot.sessionId()}`);
}

function request(url: string): string {
  const call = { block_id: WEB_REQUEST, input_data: { url, method: 'POST', body: { meters: 30 } } };
  return `/tool run_block ${JSON.stringify(call)}`;
}

test('an action of the copilot is rejected on its card', async ({ visitor, server }) => {
  const copilot = await Copilot.open(visitor);
  await copilot.sendAndWait(request('https://harbour.example/orders'));
  await copilot.page.getByRole('button', { name: 'Reject' }).click();
  await copilot.page.getByText('Rejected', { exact: true }).waitFor();
  const [review] = await reviewsOf(copilot, server);
  expect(review?.status).toBe('REJECTED');
});

test('an action is edited and approved on its card, and a reload shows the decision', async ({
  visitor,
  server,
}) => {
  const copilot = await Copilot.open(visitor);
  await copilot.sendAndWait(request('https://harbour.example/orders'));
  await copilot.page.getByRole('button', { name: 'Edit' }).click();
  await copilot.page.getByLabel('url').fill('https://harbour.example/drafts');
  await copilot.page.getByRole('button', { name: 'Approve with changes' }).click();
  await copilot.page.getByText('Approved', { exact: true }).waitFor();
  const [review] = await reviewsOf(copilot, server);
  expect(review).toMatchObject({ status: 'APPROVED', was_edited: true });
  expect(review?.payload.url).toBe('https://harbour.example/drafts');
  await copilot.waitUntilIdle();
  await copilot.page.reload();
  await copilot.page.getByText('with changes').waitFor();
});

test('a run started by the copilot is approved on its card', async ({ visitor, server }) => {
  const agent = await addExample(server, 'approval-letter');
  const copilot = await Copilot.open(visitor);
  await copilot.send(`/tool run_agent ${JSON.stringify({ library_agent_id: agent.id, use_defaults: true })}`);
  await copilot.page.getByRole('button', { name: 'Approve', exact: true }).click();
  await copilot.page.getByText('Completed', { exact: true }).first().waitFor();
});
