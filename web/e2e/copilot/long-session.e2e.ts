// In a session of 2,000 messages, the browser renders only what is visible.

import type { Page } from 'playwright-core';
import { expect, isDistributed, test } from '../harness';
import { Copilot } from './copilot';
import { longSession } from './long-session';

const MESSAGES = 2_000;
/** The messages of a few screens: the visible groups and their neighbors. */
const FEW = 100;

// Embedded only: both engines serve the same rows, and creating them takes a while.
test.skipIf(isDistributed())(
  'a session of 2,000 messages is read to its beginning, and nothing jumps',
  { timeout: 180_000 },
  async ({ visitor, server }) => {
    const id = await longSession(server, MESSAGES);
    const copilot = await Copilot.open(visitor, id);
    await copilot.responses.last().waitFor();
    const messages = copilot.page.getByRole('article');

    // After scrolling up, the view no longer follows the end.
    await copilot.page.getByRole('log').hover();
    await copilot.page.mouse.wheel(0, -400);
    await copilot.page.getByRole('button', { name: 'Jump to latest' }).waitFor();
    // Up, page by page: the scroll position is kept when earlier messages are added above it.
    for (let shown = await messages.count(); shown < MESSAGES; shown = await messages.count()) {
      const moved = await growAbove(copilot.page);
      expect(Math.abs(moved), `after ${shown} messages`).toBeLessThanOrEqual(1);
    }
    expect(await messages.count()).toBe(MESSAGES);
    expect(await copilot.page.getByRole('button', { name: /earlier messages/i }).count()).toBe(0);
    expect(await inSight(copilot.page), 'the rest is not laid out').toBeLessThan(FEW);

    // Down to the end, where the next response is added.
    await copilot.page.getByRole('button', { name: 'Jump to latest' }).click();
    const touched = await touchedBy(copilot, '/stream count=60 size=9 delay_ms=20');
    expect(await messages.count()).toBe(MESSAGES + 2);
    expect(touched).toContain(MESSAGES + 1);
    // The previous response loses its Regenerate button, because it is no longer the last one.
    const earlier = touched.filter((place) => place < MESSAGES);
    expect(earlier, 'of the rest nothing is drawn').toEqual([MESSAGES - 1]);
    expect(await inSight(copilot.page)).toBeLessThan(FEW);
  },
);

/** Scrolls to the top, waits for the page above, and returns how far the visible message has moved. */
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
    // Its bottom edge: the start of a response may be on the previous page.
    const place = read.getBoundingClientRect().bottom;
    const deadline = performance.now() + 15_000;
    while (articles().length === before) {
      if (performance.now() > deadline) throw new Error(`no earlier messages than the first of ${before}`);
      await frame();
    }
    // Groups that become visible are measured and get their real height.
    for (let i = 0; i < 5; i++) await frame();
    return read.getBoundingClientRect().bottom - place;
  });
}

/** How many messages the browser has rendered. */
function inSight(page: Page): Promise<number> {
  return page
    .getByRole('article')
    .evaluateAll(
      (articles) =>
        articles.filter((article) => article.checkVisibility({ contentVisibilityAuto: true })).length,
    );
}

/** Sends a message, and returns the indexes of the messages whose elements changed until the response was complete. */
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
  await copilot.sendAndWait(text);
  return watch.evaluate((touched) => {
    const articles = [...document.querySelectorAll('article')];
    return [...touched].map((article) => articles.indexOf(article as HTMLElement)).sort((a, b) => a - b);
  });
}
