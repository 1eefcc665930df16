// An agent on the graph page: its problems, its spec, rehearsals and versions; and the cards of building in a chat.

import type { Page } from 'playwright-core';
import { Copilot } from '../copilot/copilot';
import { checkAccessible, expect, test } from '../harness';
import { requestJson } from '../harness/requests';
import { breakLink, changeSpec, createAgent, TIDES } from './building';

const spec = (page: Page) => page.getByRole('textbox', { name: 'Agent spec' });
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

async function replaceInSpec(page: Page, from: string, to: string): Promise<void> {
  await expect.poll(() => spec(page).inputValue()).toContain(from);
  await spec(page).fill((await spec(page).inputValue()).replace(from, to));
}

test('a wrong link is shown at its node, and its fix makes the agent valid', async ({ visitor, server }) => {
  const id = await createAgent(server);
  const version = await breakLink(server, id);
  const page = await visitor.open(`/build?flowID=${id}&flowVersion=${version}`);
  const node = page.getByRole('group', { name: 'Check', exact: true });
  await node.getByRole('img', { name: '1 error' }).waitFor();
  await page.getByRole('button', { name: /has no output `reslt`/ }).click();
  const panel = page.getByRole('region', { name: 'About Check' });
  await panel.getByText('Expected').waitFor();
  await checkAccessible(page);
  await panel.getByRole('button', { name: 'Apply fix' }).click();
  await page.getByText('No errors found.').waitFor();
  await page.getByText('What the fix changed in version 3').click();
  await page.getByText('~ check.value1: "high.reslt" → "high.result"').waitFor();
  expect(await node.getByRole('img', { name: /error/ }).count()).toBe(0);
  await expect.poll(() => page.url()).not.toContain('flowVersion');
  const check = await requestJson<{ valid: boolean }>(server, '/agents/validate', { graph_id: id });
  expect(check.valid).toBe(true);
});

test('a problem is found, read and fixed with the keyboard', async ({ visitor, server }) => {
  const id = await createAgent(server);
  const version = await breakLink(server, id);
  const page = await visitor.open(`/build?flowID=${id}&flowVersion=${version}`);
  await page.getByRole('button', { name: /has no output `reslt`/ }).press('Enter');
  const panel = page.getByRole('region', { name: 'About Check' });
  await expect.poll(() => panel.evaluate((element) => element === document.activeElement)).toBe(true);
  await panel.getByRole('button', { name: 'Apply fix' }).press('Enter');
  const bar = page.getByRole('region', { name: /No errors found/ });
  await bar.waitFor();
  await expect.poll(() => bar.evaluate((element) => element === document.activeElement)).toBe(true);
});

test('a step is changed in the spec, compared, and saved as version 2', async ({ visitor, server }) => {
  const id = await createAgent(server);
  const page = await visitor.open(`/build?flowID=${id}&tab=spec`);
  await replaceInSpec(page, 'b: 1', 'b: 2');
  await page.reload();
  await expect.poll(() => spec(page).inputValue()).toContain('b: 2');
  await page.getByText('~ high.b: 1 → 2').waitFor();
  await checkAccessible(page);
  await press(page, 'Save as new version');
  await page.getByText('Saved as version 2.').first().waitFor();
  await page.getByRole('link', { name: 'Versions' }).click();
  await page.getByText('~ high.b: 1 → 2').waitFor();
  await press(page, 'Restore version 1');
  await page.getByText('~ high.b: 2 → 1').waitFor();
  await checkAccessible(page);
  const stored = await requestJson<{ spec: string }>(server, '/agents/decompile', { graph_id: id });
  expect(stored.spec).toContain('b: 1');
});

test('text on top of a version that was replaced meanwhile is merged with it', async ({
  visitor,
  server,
}) => {
  visitor.expectErrors(/status of 409/);
  const id = await createAgent(server);
  const page = await visitor.open(`/build?flowID=${id}&tab=spec`);
  await replaceInSpec(page, 'b: 1', 'b: 2');
  await changeSpec(server, id, (text) => text.replace('Morning tides', 'Evening tides'));
  await press(page, 'Save as new version');
  const alert = page.getByRole('alert');
  await alert.getByText('~ name: "Morning tides" → "Evening tides"').waitFor();
  await checkAccessible(page);
  await press(page, 'Apply my changes to version 2');
  await expect.poll(() => spec(page).inputValue()).toContain('Evening tides');
  await page.getByText('~ high.b: 1 → 2').waitFor();
  await press(page, 'Save as new version');
  await page.getByText('Saved as version 3.').first().waitFor();
  const stored = await requestJson<{ spec: string }>(server, '/agents/decompile', { graph_id: id });
  expect(stored.spec).toContain('Evening tides');
  expect(stored.spec).toContain('b: 2');
});

test('a rehearsal shows what ran, in the graph and in a report', async ({ visitor, server }) => {
  const id = await createAgent(server);
  const page = await visitor.open(`/build?flowID=${id}&tab=rehearse`);
  await page.getByRole('textbox', { name: 'Harbor' }).fill('Brest');
  await page.getByLabel('Height').fill('9');
  await press(page, 'Rehearse');
  const results = page.getByRole('region', { name: 'Rehearsal results' });
  await results.getByText('Brest: 10 m').first().waitFor();
  await results.getByText('Alarm in Brest').first().waitFor();
  await results
    .getByRole('group', { name: 'High', exact: true })
    .getByRole('img', { name: '1 run' })
    .waitFor();
  await checkAccessible(page);
});

test('an agent with errors is saved as a draft, and its spec is fixed automatically', async ({
  visitor,
  server,
}) => {
  visitor.expectErrors(/status of 400/);
  const id = await createAgent(server);
  const page = await visitor.open(`/build?flowID=${id}&tab=spec`);
  await replaceInSpec(page, 'value1: high.result', 'value1: high.reslt');
  await press(page, 'Save as new version');
  await page.getByText('Not saved: the agent has errors.').first().waitFor();
  await press(page, 'Save as draft');
  await page.getByText('Saved as version 2, a draft.').first().waitFor();
  await press(page, 'Check');
  await press(page, 'Fix automatically');
  await expect.poll(() => spec(page).inputValue()).toContain('value1: high.result');
  await press(page, 'Save as new version');
  await page.getByText('Saved as version 3.').first().waitFor();
});

test('an agent that the copilot saves is shown with its picture, and opens in the builder', async ({
  visitor,
}) => {
  const copilot = await Copilot.open(visitor);
  await copilot.sendAndWait('/tool get_agent_building_guide {}');
  await copilot.sendAndWait(`/tool create_agent ${JSON.stringify({ spec: TIDES })}`);
  const card = copilot.responses.nth(1);
  await card.getByRole('group', { name: 'Check', exact: true }).waitFor();
  await card.getByRole('link', { name: 'Rehearse' }).waitFor();
  await checkAccessible(copilot.page);
  await card.getByRole('link', { name: 'Open in builder' }).click();
  await copilot.page.getByRole('heading', { name: 'Morning tides' }).waitFor();
  await copilot.page.getByText('No errors found.').waitFor();
});

test('a preview opens in the builder as unsaved text, and is saved there', async ({ visitor }) => {
  const copilot = await Copilot.open(visitor);
  const { page } = copilot;
  await copilot.sendAndWait('/tool get_agent_building_guide {}');
  await copilot.sendAndWait(`/tool create_agent ${JSON.stringify({ spec: TIDES, save: false })}`);
  await copilot.responses.nth(1).getByRole('button', { name: 'Open in builder' }).click();
  await expect.poll(() => spec(page).inputValue()).toContain('name: Morning tides');
  await press(page, 'Save agent');
  await page.getByText('No errors found.').waitFor();
  await page.getByRole('link', { name: 'Run', exact: true }).click();
  await page.getByRole('button', { name: 'Run', exact: true }).waitFor();
});

test('a sentence becomes an agent that is rehearsed, changed, run, approved and changed again', {
  timeout: 180_000,
}, async ({ visitor, server }) => {
  const copilot = await Copilot.open(visitor);
  const { page } = copilot;

  // One sentence, and the one question that it leaves open.
  await copilot.send('Build an agent that totals an invoice and asks me before sending it');
  const question = page.getByRole('textbox', { name: /web address/ });
  await question.fill('http://127.0.0.1:9/invoices');
  await page.getByRole('button', { name: 'Send answer' }).click();

  // The picture of the agent.
  const saved = page.getByRole('group', { name: 'Graph of Invoice total' });
  await saved.getByRole('group').first().waitFor();
  await copilot.waitUntilIdle();
  await checkAccessible(page);
  const chat = page.url();

  // The builder: rehearse, change a step, see what changes, save.
  await page.getByRole('link', { name: 'Rehearse' }).last().click();
  await press(page, 'Rehearse');
  const results = page.getByRole('region', { name: 'Rehearsal results' });
  await results.getByText('Outputs', { exact: true }).waitFor();
  await results.getByText('did not really run').waitFor();
  expect((await requestJson<unknown[]>(server, '/review/pending')).length).toBe(0);
  await page.getByRole('link', { name: 'Spec', exact: true }).click();
  await replaceInSpec(page, 'default: 0', 'default: 21');
  await press(page, 'Show changes');
  await page.getByText(/tax_percent.*21 by default/).waitFor();
  await press(page, 'Save as new version');
  await page.getByText('Saved as version 2.').first().waitFor();

  // It runs and asks before it sends.
  await page.getByRole('link', { name: 'Run', exact: true }).click();
  await press(page, 'Run');
  await page.getByText('Needs your approval').first().waitFor();
  await press(page, 'Approve');
  await page.getByText('Completed', { exact: true }).first().waitFor();
  await page.getByText('150.04').first().waitFor();

  // Another change, in words.
  await page.goto(chat);
  await copilot.send('Set the tax to 19 % and rename it to Harbor dues');
  const changed = page.getByRole('group', { name: 'Graph of Harbor dues' });
  await changed.waitFor();
  await copilot.waitUntilIdle();
  await page
    .getByRole('group', { name: 'Changes' })
    .getByText(/tax_percent/)
    .first()
    .waitFor();
  await page.getByText('Version 3', { exact: true }).first().waitFor();
});
