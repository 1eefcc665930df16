// Compares the smoothness of small and large content: sessions and graphs. Not a test; `make bench` runs it.

import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll } from 'vitest';
import { Copilot } from '../copilot/copilot';
import { longSession } from '../copilot/long-session';
import { test } from '../harness';
import { requestJson } from '../harness/requests';
import type { Server } from '../harness/server';
import { type FrameTimes, frames } from './frames';

const [FEW_MESSAGES, MANY_MESSAGES] = [20, 2_000];
const [FEW_NODES, MANY_NODES] = [10, 200];
const STORE_VALUE = '1ff065e9-88e8-4358-9d82-8dc91f622ba9';
const TIMEOUT = { timeout: 300_000 };

const rows: string[][] = [];

test('sessions', TIMEOUT, async ({ visitor, server }) => {
  const [few, many] = [await session(FEW_MESSAGES), await session(MANY_MESSAGES)];
  compare('scrolling', 'messages', FEW_MESSAGES, MANY_MESSAGES, few.scrolling, many.scrolling);
  compare('a response streams', 'messages', FEW_MESSAGES, MANY_MESSAGES, few.streaming, many.streaming);

  async function session(messages: number) {
    const copilot = await Copilot.open(visitor, await longSession(server, messages));
    await copilot.responses.last().waitFor();
    await readAll(copilot.page, messages);
    const scrolling = await frames(copilot.page, () => wheel(copilot.page));
    await copilot.page.getByRole('log').evaluate((log) => log.scrollTo(0, log.scrollHeight));
    const streaming = await frames(copilot.page, () =>
      copilot.sendAndWait('/stream count=250 size=20 delay_ms=10'),
    );
    await copilot.page.close();
    return { scrolling, streaming };
  }
});

test('graphs', TIMEOUT, async ({ visitor, server }) => {
  visitor.expectErrors(/\/versions/);
  const [few, many] = [await graph(FEW_NODES), await graph(MANY_NODES)];
  compare('panning a graph', 'nodes', FEW_NODES, MANY_NODES, few.panning, many.panning);
  compare('zooming a graph', 'nodes', FEW_NODES, MANY_NODES, few.zooming, many.zooming);

  async function graph(nodes: number) {
    const page = await visitor.open(`/build?flowID=${await chain(server, nodes)}`);
    await page.locator('.react-flow__node').first().waitFor();
    const panning = await frames(page, () => drag(page));
    const zooming = await frames(page, () => zoom(page));
    await page.close();
    return { panning, zooming };
  }
});

afterAll(() => {
  const head = ['', 'frame ms', '95 %', 'work ms', 'times the work'];
  const table = [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`);
  process.stdout.write(`\n${table.join('\n')}\n\n`);
});

function compare(
  what: string,
  unit: string,
  few: number,
  many: number,
  little: FrameTimes,
  much: FrameTimes,
): void {
  const numbers = ({ median, p95, work }: FrameTimes) => [median, p95, work].map((value) => value.toFixed(1));
  rows.push([`${what}, ${few} ${unit}`, ...numbers(little), '']);
  rows.push([`${what}, ${many} ${unit}`, ...numbers(much), (much.work / little.work).toFixed(2)]);
}

/** Scrolls up until the whole session is loaded. */
async function readAll(page: Page, messages: number): Promise<void> {
  const log = page.getByRole('log');
  while ((await page.getByRole('article').count()) < messages) {
    await log.evaluate((log) => log.scrollTo(0, 0));
    await page.waitForTimeout(20);
  }
}

async function wheel(page: Page): Promise<void> {
  await page.getByRole('log').hover();
  for (const step of [300, -300]) {
    for (let i = 0; i < 100; i++) {
      await page.mouse.wheel(0, step);
      await page.waitForTimeout(16);
    }
  }
}

async function drag(page: Page): Promise<void> {
  await page.mouse.move(700, 650);
  await page.mouse.down();
  for (let i = 0; i < 150; i++) {
    await page.mouse.move(700 + 200 * Math.sin(i / 10), 650 + 60 * Math.cos(i / 10));
    await page.waitForTimeout(10);
  }
  await page.mouse.up();
}

async function zoom(page: Page): Promise<void> {
  for (let i = 0; i < 100; i++) {
    await page.mouse.wheel(0, i % 20 < 10 ? 60 : -60);
    await page.waitForTimeout(10);
  }
}

/** Creates a graph of this many chained blocks. Returns its id. */
async function chain(server: Server, length: number): Promise<string> {
  const ids = Array.from({ length }, () => randomUUID());
  const nodes = ids.map((id, index) => ({
    id,
    block_id: STORE_VALUE,
    input_default: index === 0 ? { input: 'a value' } : {},
    metadata: { position: { x: (index % 20) * 400, y: Math.floor(index / 20) * 300 } },
  }));
  const links = ids.slice(1).map((sink_id, index) => ({
    id: randomUUID(),
    source_id: ids[index],
    sink_id,
    source_name: 'output',
    sink_name: 'input',
  }));
  const graph = { name: `A chain of ${length}`, description: '', nodes, links };
  return (await requestJson<{ id: string }>(server, '/graphs', { graph })).id;
}
