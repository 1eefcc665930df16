import type { Page } from 'playwright-core';
import { test } from '../harness';
import { requestJson } from '../harness/requests';
import { addExample, run } from './agents';

/** An agent that outputs a value every second for ten minutes. */
const EGG_TIMER = {
  graph: {
    name: 'Egg timer',
    nodes: [
      {
        id: 'wait',
        block_id: 'd67a9c52-5e4e-11e2-bcfd-0800200c9a71',
        input_default: { input_message: 'Ding', seconds: 1, repeat: 600 },
      },
      { id: 'out', block_id: '363ae599-353e-4804-937e-b2ee3cef3da4', input_default: { name: 'bell' } },
    ],
    links: [{ source_id: 'wait', source_name: 'output_message', sink_id: 'out', sink_name: 'value' }],
  },
};

/** The outputs panel of a run. */
function outputs(page: Page) {
  return page.locator('section').filter({ has: page.getByRole('heading', { name: 'Outputs' }) });
}

test('an agent is found in the marketplace, added and run, and its outputs are shown', async ({
  visitor,
}) => {
  // The server responds with 404 while the agent is not in the library.
  visitor.expectErrors(/status of 404.*\/library\/agents\/marketplace\//);
  const page = await visitor.open('/marketplace');
  await page.getByLabel('Search marketplace').fill('invoice');
  await page.waitForURL(/q=invoice/);
  await page.getByRole('link', { name: 'Invoice calculator' }).click();
  await page.getByRole('button', { name: 'Add to library' }).click();
  await page.getByRole('link', { name: 'Open in library' }).click();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText('Completed', { exact: true }).first().waitFor();
  await outputs(page).getByText('Total', { exact: true }).waitFor();
});

test('outputs appear while the run is running, and it can be stopped', async ({ visitor, server }) => {
  await requestJson(server, '/graphs', EGG_TIMER);
  const page = await visitor.open('/library');
  await page.getByRole('link', { name: 'Egg timer' }).click();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText('2 values').waitFor();
  await page.getByText('3 values').waitFor();
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.getByText('Stopped', { exact: true }).first().waitFor();
  await page.getByRole('button', { name: 'Run again' }).waitFor();
});

test('a review is decided on the page of its run, and the run resumes', async ({ visitor, server }) => {
  const agent = await addExample(server, 'approval-letter');
  const id = await run(server, agent, { recipient: 'Dr Lindqvist' });
  const page = await visitor.open(`/library/agents/${agent.id}?activeTab=runs&activeItem=${id}`);
  await page.getByText('Needs your approval').first().waitFor();
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Content').fill('Dear Dr Lindqvist, welcome aboard.');
  await page.getByRole('button', { name: 'Approve with changes' }).click();
  await page.getByText('Completed', { exact: true }).first().waitFor();
  await outputs(page).getByText('Dear Dr Lindqvist, welcome aboard.').waitFor();
});

test('a missing agent is reported with a link back', async ({ visitor }) => {
  visitor.expectErrors(/status of 404/);
  const page = await visitor.open('/library/agents/01a1e465-3900-77f1-9b51-000000000000');
  await page.getByText('Agent not found in your library').waitFor();
  await page.getByRole('link', { name: 'Back to library' }).click();
  await page.waitForURL('**/library');
});
