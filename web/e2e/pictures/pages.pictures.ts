// Takes the screenshots of the documentation. Not a test; `make pictures` runs it.

import { afterAll } from 'vitest';
import { Copilot } from '../copilot/copilot';
import { PHONE, test, type Visitor } from '../harness';
import { ScriptedModel } from '../harness/scripted-model';
import { addExample, run } from '../pages/agents';
import { take } from './take';
import { PLAN, playVoyage } from './voyage';

const TALL = { width: 1280, height: 1000 };
const EXAMPLES = ['text-in-numbers', 'invoice-calculator', 'csv-report', 'feed-digest'];

const model = await ScriptedModel.start();
afterAll(() => model.close());
test.override('settings', { ...model.settings, CHAT_MODEL: 'harbour-20b' });

test('the copilot in both themes and on a phone', async ({ newVisitor }) => {
  playVoyage(model);
  const copilot = await Copilot.open(await newVisitor({ viewport: TALL }));
  await copilot.sendAndWait(PLAN);
  const id = await copilot.sessionId();
  await take(copilot.page, 'copilot');
  for (const [name, options] of [
    ['copilot-dark', { viewport: TALL, colorScheme: 'dark' as const }],
    ['copilot-phone', { viewport: PHONE, deviceScaleFactor: 2, hasTouch: true, isMobile: true }],
  ] as const) {
    const other = await Copilot.open(await newVisitor(options), id);
    await other.responses.first().waitFor();
    await take(other.page, name);
  }
});

test('the other pages', async ({ visitor, server }) => {
  // The user has no versions of a marketplace agent.
  visitor.expectErrors(/\/versions/);
  for (const slug of EXAMPLES) await addExample(server, slug);
  const letter = await addExample(server, 'approval-letter');
  for (const recipient of ['Ms Ito', 'Mr Okafor']) await run(server, letter, { recipient });
  await visit(visitor, 'library', '/library');
  await visit(visitor, 'agent', `/library/agents/${letter.id}`);
  await visit(visitor, 'marketplace', '/marketplace');
  await visit(visitor, 'graph', `/build?flowID=${letter.graph_id}`);
  await visit(visitor, 'reviews', '/reviews');
  await visit(visitor, 'operations', '/ops');
  await visit(visitor, 'settings', '/settings');
});

async function visit(visitor: Visitor, name: string, path: string): Promise<void> {
  const page = await visitor.open(path);
  await take(page, name);
  await page.close();
}
