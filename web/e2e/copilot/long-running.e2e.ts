// Work that outlasts a call, a turn or a page visit.

import { afterAll } from 'vitest';
import { checkAccessible, expect, test } from '../harness';
import { ToolService } from '../harness/tool-service';
import { Copilot } from './copilot';

/** An agent that returns its input. */
const ECHO = {
  name: 'Echo',
  description: 'Returns its input.',
  nodes: [
    {
      id: 'in',
      block_id: 'c0a8e994-ebf1-4a9c-a4d8-89d09c86741b',
      input_default: { name: 'text', value: 'Ahoy' },
    },
    { id: 'out', block_id: '363ae599-353e-4804-937e-b2ee3cef3da4', input_default: { name: 'text' } },
  ],
  links: [{ source_id: 'in', source_name: 'result', sink_id: 'out', sink_name: 'value' }],
};

const service = await ToolService.start();
afterAll(() => service.close());
test.override('settings', service.settings);

test('a running operation is shown, and replaced by its result', async ({ visitor, server }) => {
  const copilot = await Copilot.open(visitor);
  await copilot.sendAndWait('/tool print_chart {"chart":"Vlissingen"}');
  const card = copilot.responses.first();
  await card.getByRole('progressbar').waitFor();
  await service.print(server, 'vlissingen.pdf');
  await copilot.responses.nth(1).waitFor();
  await copilot.waitUntilIdle();
  await card.getByRole('progressbar').waitFor({ state: 'detached' });
  await copilot.page.getByText('vlissingen.pdf').first().waitFor();
});

test('an agent that is being built shows its stages, a game to play, and its picture in the end', async ({
  visitor,
}) => {
  const copilot = await Copilot.open(visitor);
  const { page } = copilot;
  const stage = (name: string) => page.locator('[aria-current=step]', { hasText: name });
  await copilot.sendAndWait('/tool get_agent_building_guide {}');
  await copilot.sendAndWait('/tool create_agent {"description":"Tell me the tides every morning"}');
  await stage('Understanding the goal').waitFor();
  await service.plan('Ask for the harbor', 'Tell the tide');
  await stage('Writing the agent').waitFor();
  // The stages are in the stream of the operation, so they are there after a reload, too.
  await page.reload();
  await stage('Writing the agent').waitFor();
  await checkAccessible(page);
  await page.getByRole('button', { name: 'Play while you wait' }).click();
  await page.getByRole('button', { name: 'Play while you wait' }).waitFor({ state: 'detached' });
  await service.generate(ECHO);
  await page.getByRole('group', { name: 'Graph of Echo' }).waitFor();
  expect(await page.getByRole('progressbar').count()).toBe(0);
});

test('the result of an operation that ended while the page was closed is shown on return', async ({
  visitor,
  server,
}) => {
  const copilot = await Copilot.open(visitor);
  await copilot.sendAndWait('/tool print_chart {"chart":"Breskens"}');
  const id = await copilot.sessionId();
  await copilot.page.close();
  await service.print(server, 'breskens.pdf');
  const later = await Copilot.open(visitor, id);
  await later.responses.nth(1).waitFor();
  await later.page.getByText('breskens.pdf').first().waitFor();
  expect(await later.page.getByRole('progressbar').count()).toBe(0);
});

test('a call that takes too long continues in the background', async ({ visitor }) => {
  const copilot = await Copilot.open(visitor);
  await copilot.send('/tool weigh_cargo {"cargo":"herring"}');
  await copilot.page
    .getByText(/in the background/)
    .first()
    .waitFor();
  await service.weigh(12);
  await copilot.waitUntilIdle();
});

test('a sub-session can be opened, and links back to its parent', async ({ visitor }) => {
  const copilot = await Copilot.open(visitor);
  await copilot.sendAndWait('/tool run_sub_session {"prompt":"/stream count=4 size=5"}');
  const parent = await copilot.sessionId();
  await copilot.responses.getByRole('link', { name: /open/i }).first().click();
  await expect.poll(() => copilot.sessionId()).not.toBe(parent);
  await copilot.userMessages.getByText('/stream count=4 size=5').waitFor();
  await copilot.page.getByRole('link', { name: 'Parent chat' }).click();
  await expect.poll(() => copilot.sessionId()).toBe(parent);
});

test('a question from the model is answered with a form', async ({ visitor }) => {
  const copilot = await Copilot.open(visitor);
  const questions = [
    { question: 'Which harbour?', keyword: 'harbour', options: ['Vlissingen', 'Breskens'] },
    { question: 'How many are you?', keyword: 'crew' },
  ];
  await copilot.sendAndWait(`/tool ask_question ${JSON.stringify({ questions })}`);
  const card = copilot.responses.first();
  await card.getByText('Breskens', { exact: true }).click();
  await card.getByRole('textbox', { name: /How many are you/ }).fill('three');
  await card.getByRole('button', { name: 'Send answers' }).click();
  await copilot.userMessages.nth(1).waitFor();
  const said = await copilot.userMessages.nth(1).textContent();
  expect(said).toContain('Breskens');
  expect(said).toContain('three');
});
