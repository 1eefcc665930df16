// Measures the browser's main thread during an action, frame by frame.

import type { Page } from 'playwright-core';

export type FrameTimes = {
  /** Milliseconds between frames: the median and the 95th percentile. */
  median: number;
  p95: number;
  /** Average milliseconds of work per frame. */
  work: number;
};

export async function frames(page: Page, action: () => Promise<void>): Promise<FrameTimes> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const worked = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0);
  };
  const clock = await page.evaluateHandle(() => {
    const seen: number[] = [];
    const clock = { seen, isOn: true };
    let last = performance.now();
    requestAnimationFrame(function next() {
      const now = performance.now();
      seen.push(now - last);
      last = now;
      if (clock.isOn) requestAnimationFrame(next);
    });
    return clock;
  });
  const before = await worked();
  await action();
  const work = (await worked()) - before;
  const seen = await clock.evaluate((clock) => {
    clock.isOn = false;
    return clock.seen;
  });
  await session.detach();
  const sorted = seen.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  return { median: at(0.5), p95: at(0.95), work: work / seen.length };
}
