// Nothing on the page moves while a response streams, as measured by the browser's layout shifts.

import type { JSHandle, Page } from 'playwright-core';
import { afterAll } from 'vitest';
import { expect, PHONE, test } from '../harness';
import { Gate, type ModelReply, ScriptedModel } from '../harness/scripted-model';
import { Copilot } from './copilot';

/** All elements with a height of their own, more than one screen in total. */
const TEXT = `## Tides

Leave at **09:40**, an hour before high water, [as the tables say](https://example.com/tides).

| Leave | Current | Arrive |
| --- | --- | --- |
| 07:00 | against you | 14:10 |
| 09:40 | with you | 15:10 |

1. Cast off the stern line.
2. Spring out on the bow.
   - Mind the ferry.

> The harbour master is on channel 10.

\`\`\`python
hours = 34 / (5.0 + 1.2)
for mile in range(34):
    log(mile, hours)
\`\`\`

`;

const TODOS = [{ content: 'Cast off', activeForm: 'Casting off', status: 'pending' }];

const model = await ScriptedModel.start();
afterAll(() => model.close());
test.override('settings', model.settings);

/** A few characters at a time, like a model. */
async function type(reply: ModelReply, text: string): Promise<void> {
  for (const piece of text.match(/.{1,12}/gs) ?? []) {
    reply.sendText(piece);
    await new Promise((resolve) => setTimeout(resolve, 4));
  }
}

test.for([
  ['on a wide screen', {}],
  ['on a phone', { viewport: PHONE, hasTouch: true, isMobile: true }],
] as const)('nothing shifts while a response streams, %s', async ([, options], { newVisitor }) => {
  const gate = new Gate();
  model.respondWith(
    async (reply) => {
      reply.sendText('I look. ');
      await gate.wait();
      await type(reply, TEXT);
      // One call per step: parallel calls shift each other's results, which is expected.
      reply.callTool('todo_write', { todos: TODOS });
    },
    async (reply) => {
      await type(reply, TEXT);
      reply.callTool('read_workspace_file', { path: 'chart.txt' });
    },
    (reply) => type(reply, TEXT),
  );
  const copilot = await Copilot.open(await newVisitor(options));
  await copilot.field.fill('When should we leave?');
  await copilot.page.getByRole('button', { name: 'Send' }).click();
  await copilot.responses.getByText('I look.').waitFor();
  const shifts = await countShifts(copilot.page);
  gate.open();
  await copilot.waitUntilIdle();
  await copilot.responses.getByText('harbour master').nth(2).waitFor();
  expect(await shifts.evaluate(settled)).toEqual([]);

  // Proves that a shift would have been detected.
  await copilot.page.getByRole('log').evaluate((log) => {
    log.style.paddingTop = '0';
    log.style.marginTop = '60px';
  });
  await expect.poll(() => shifts.evaluate(settled)).not.toEqual([]);
});

type Shifts = { seen: string[] };

/** Records layout shifts, except below the streaming response and of table columns. */
async function countShifts(page: Page): Promise<JSHandle<Shifts>> {
  return page.evaluateHandle(() => {
    const shifts: Shifts = { seen: [] };
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const { sources } = entry as PerformanceEntry & {
          sources: { node: Node | null; previousRect: DOMRect; currentRect: DOMRect }[];
        };
        const answer = [...document.querySelectorAll('[data-testid=assistant-message]')].at(-1);
        for (const { node, previousRect: from, currentRect: to } of sources) {
          const element = node instanceof Element ? node : node?.parentElement;
          if (!element || !answer) continue;
          const isBelow = answer.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING;
          if (isBelow && !answer.contains(element) && element.closest('[role=log]')) continue;
          if (element.closest('table') && from.y === to.y) continue;
          shifts.seen.push(`${element.outerHTML.slice(0, 80)} from ${from.x}, ${from.y} to ${to.x}, ${to.y}`);
        }
      }
    }).observe({ type: 'layout-shift' });
    return shifts;
  });
}

/** The recorded shifts, once the last frame has been painted and reported. */
async function settled(shifts: Shifts): Promise<string[]> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => requestAnimationFrame(resolve));
  return shifts.seen;
}
