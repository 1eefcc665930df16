// A session of 2,000 messages costs the browser no more than what can be seen of it.

import type { Page } from 'playwright-core';
import { expect, isDistributed, test } from '../harness';
import { Copilot } from './copilot';
import { longSession } from './long-session';

const MESSAGES = 2_000;
/** Some screens full, of the groups in sight and their neighbours. */
const FEW = 100;

// The same rows come from either engine, and to make them takes a while.
test.skipIf(isDistributed())(
  'a session of 2,000 messages is read to its beginning, and nothing jumps',
  { timeout: 180_000 },
  async ({ visitor, server }) => {
    const id = await longSession(server, MESSAGES);
    const copilot = await Copilot.open(visitor, id);
    await copilot.answers.last().waitFor();
    const messages = copilot.page.getByRole('article');

    // Whoever turns the wheel no longer follows the end.
    await copilot.page.getByRole('log').hover();
    await copilot.page.mouse.wheel(0, -400);
    await copilot.page.getByRole('button', { name: 'Jump to latest' }).waitFor();
    // Up, page by page: what is read stays where it is when earlier messages come in above it.
    for (let shown = await messages.count(); shown < MESSAGES; shown = await messages.count()) {
      const moved = await growAbove(copilot.page);
      expect(Math.abs(moved), `after ${shown} messages`).toBeLessThanOrEqual(1);
    }
    expect(await messages.count()).toBe(MESSAGES);
    expect(await copilot.page.getByRole('button', { name: /earlier messages/i }).count()).toBe(0);
    expect(await inSight(copilot.page), 'the rest is not laid out').toBeLessThan(FEW);

    // Down to the end, where the next answer comes.
    await copilot.page.getByRole('button', { name: 'Jump to latest' }).click();
    const touched = await touchedBy(copilot, '/stream count=60 size=9 delay_ms=20');
    expect(await messages.count()).toBe(MESSAGES + 2);
    expect(touched).toContain(MESSAGES + 1);
    // The answer before it is no longer the last one, which can be made anew.
    const earlier = touched.filter((place) => place < MESSAGES);
    expect(earlier, 'of the rest nothing is drawn').toEqual([MESSAGES - 1]);
    expect(await inSight(copilot.page)).toBeLessThan(FEW);
  },
);

/** Goes to the top, waits for the page above it, and gives back how far what was read has moved. */
async function growAbove(page: Page): Promise<number> {
  return page.getByRole('log').evaluate(async (log) => {
    const articles = () => [...log.querySelectorAll('article')];
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const before = articles().length;
    log.scrollTop = 400;
    await frame();
    const edge = log.getBoundingClientRect().top;
    const read = articles().find((article) => article.getBoundingClientRect().bottom > edge + 50);
    if (!read) throw new Error('nothing is in sight');
    // Its end: the beginning of an answer may be on the page before.
    const place = read.getBoundingClientRect().bottom;
    const deadline = performance.now() + 15_000;
    while (articles().length === before) {
      if (performance.now() > deadline) throw new Error(`no earlier messages than the first of ${before}`);
      await frame();
    }
    // What comes into sight is measured and takes its real height.
    for (let i = 0; i < 5; i++) await frame();
    return read.getBoundingClientRect().bottom - place;
  });
}

/** How many messages the browser has laid out. */
function inSight(page: Page): Promise<number> {
  return page
    .getByRole('article')
    .evaluateAll(
      (articles) =>
        articles.filter((article) => article.checkVisibility({ contentVisibilityAuto: true })).length,
    );
}

/** Asks, and gives back the places of the messages whose elements were changed until the answer was whole. */
async function touchedBy(copilot: Copilot, text: string): Promise<number[]> {
  const watch = await copilot.page.getByRole('log').evaluateHandle((log) => {
    const touched = new Set<Element>();
    new MutationObserver((changes) => {
      for (const { target, addedNodes } of changes) {
        for (const node of [target, ...addedNodes]) {
          const article = (node instanceof Element ? node : node.parentElement)?.closest('article');
          if (article) touched.add(article);
        }
      }
    }).observe(log, { subtree: true, childList: true, characterData: true, attributes: true });
    return touched;
  });
  await copilot.ask(text);
  return watch.evaluate((touched) => {
    const articles = [...document.querySelectorAll('article')];
    return [...touched].map((article) => articles.indexOf(article as HTMLElement)).sort((a, b) => a - b);
  });
}
