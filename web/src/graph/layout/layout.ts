// Layered layout of a graph: columns from left to right, with short links and few crossings. Fast enough for graphs of
// up to 2,000 nodes.

import { type Pair, ranksOf } from './ranks';
import { type Item, orderColumns } from './row-order';
import { rowCenters } from './row-positions';

export type Box = { id: string; width: number; height: number };
export type Position = { x: number; y: number };

const COLUMN_GAP = 72;
const ROW_GAP = 28;
const LINK_HEIGHT = 12;
/** Links that span more columns than this get no reserved gaps. */
const MAX_RESERVED_SPAN = 12;

export type Layout = {
  /** Upper left corner of each node. */
  positions: Map<string, Position>;
  /** By `bendKey`: the points where a link passes the columns between its ends. */
  bends: Map<string, Position[]>;
};

export const bendKey = (from: string, to: string): string => `${from}\0${to}`;

export function layout(boxes: Box[], links: Pair[]): Layout {
  const known = new Map(boxes.map((box) => [box.id, box]));
  const pairs = distinct(links.filter(([from, to]) => from !== to && known.has(from) && known.has(to)));
  const ranks = ranksOf([...known.keys()], pairs);
  const { columns, steps } = columnsOf([...known.values()], pairs, ranks);
  const inOrder = orderColumns(columns, steps);
  const centers = rowCenters(inOrder, steps, ROW_GAP);

  const positions = new Map<string, Position>();
  const gaps = new Map<string, Position>();
  let x = 0;
  for (const column of inOrder) {
    const width = Math.max(0, ...column.map((item) => known.get(item.id)?.width ?? 0));
    for (const item of column) {
      const y = centers.get(item.id) ?? 0;
      if (item.isNode) positions.set(item.id, { x, y: y - item.height / 2 });
      else gaps.set(item.id, { x: x + width / 2, y });
    }
    x += width + COLUMN_GAP;
  }
  return { positions, bends: bendsOf(gaps, pairs, ranks) };
}

/** The bends of each link in its direction, which may be backward. */
function bendsOf(gaps: ReadonlyMap<string, Position>, pairs: Pair[], ranks: ReadonlyMap<string, number>) {
  const bends = new Map<string, Position[]>();
  for (const [from, to] of pairs) {
    const start = ranks.get(from) ?? 0;
    const end = ranks.get(to) ?? 0;
    const step = start <= end ? 1 : -1;
    const points: Position[] = [];
    for (let rank = start + step; rank !== end && start !== end; rank += step) {
      const point = gaps.get(gapId(from, to, rank, ranks));
      if (point) points.push(point);
    }
    if (points.length > 0) bends.set(bendKey(from, to), points);
  }
  return bends;
}

/** Id of the gap of a link in a column. Node ids contain no zero byte, so it is unique. */
function gapId(from: string, to: string, rank: number, ranks: ReadonlyMap<string, number>): string {
  const [left, right] = (ranks.get(from) ?? 0) <= (ranks.get(to) ?? 0) ? [from, to] : [to, from];
  return `${left}\0${right}\0${rank}`;
}

/** The columns, and the links split into steps between adjacent columns. */
function columnsOf(boxes: Box[], pairs: Pair[], ranks: ReadonlyMap<string, number>) {
  const columns: Item[][] = [];
  const add = (rank: number, item: Item) => {
    columns[rank] ??= [];
    columns[rank].push(item);
  };
  for (const { id, height } of boxes) add(ranks.get(id) ?? 0, { id, height, isNode: true });
  const steps: Pair[] = [];
  for (const [from, to] of pairs) {
    // A backward link is laid out as if it were forward.
    const [left, right] = (ranks.get(from) ?? 0) <= (ranks.get(to) ?? 0) ? [from, to] : [to, from];
    const start = ranks.get(left) ?? 0;
    const end = ranks.get(right) ?? 0;
    let before = left;
    for (let rank = start + 1; rank < end && end - start <= MAX_RESERVED_SPAN; rank++) {
      const id = gapId(from, to, rank, ranks);
      add(rank, { id, height: LINK_HEIGHT, isNode: false });
      steps.push([before, id]);
      before = id;
    }
    steps.push([before, right]);
  }
  return { columns: Array.from(columns, (column) => column ?? []), steps };
}

function distinct(pairs: Pair[]): Pair[] {
  return [...new Map(pairs.map((pair) => [pair.join('\0'), pair])).values()];
}
