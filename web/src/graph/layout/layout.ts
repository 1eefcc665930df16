// Where the nodes of a graph stand: in columns from left to right, so that links lead to the right, cross little and
// are short. Made for graphs of up to two thousand nodes, in a time that nobody notices.

import { ordered } from './row-order';
import { placed } from './row-positions';
import { type Pair, ranksOf } from './ranks';

export type Box = { id: string; width: number; height: number };
export type Position = { x: number; y: number };

/** A node, or a place kept free for a link that passes a column. */
export type Item = { id: string; height: number; isNode: boolean };

const COLUMN_GAP = 72;
const ROW_GAP = 28;
const LINK_HEIGHT = 12;
/** Links that pass very many columns are not worth keeping places for. */
const LONGEST_KEPT = 12;

export type Layout = {
  /** The upper left corner of every node. */
  positions: Map<string, Position>;
  /** By `bendKey`: where a link passes the columns between its ends. */
  bends: Map<string, Position[]>;
};

export const bendKey = (from: string, to: string): string => `${from}\0${to}`;

export function layout(boxes: Box[], links: Pair[]): Layout {
  const known = new Map(boxes.map((box) => [box.id, box]));
  const pairs = distinct(links.filter(([from, to]) => from !== to && known.has(from) && known.has(to)));
  const ranks = ranksOf([...known.keys()], pairs);
  const { columns, steps } = columnsOf([...known.values()], pairs, ranks);
  const inOrder = ordered(columns, steps);
  const centers = placed(inOrder, steps, ROW_GAP);

  const positions = new Map<string, Position>();
  const passed = new Map<string, Position>();
  let x = 0;
  for (const column of inOrder) {
    const width = Math.max(0, ...column.map((item) => known.get(item.id)?.width ?? 0));
    for (const item of column) {
      const y = centers.get(item.id) ?? 0;
      if (item.isNode) positions.set(item.id, { x, y: y - item.height / 2 });
      else passed.set(item.id, { x: x + width / 2, y });
    }
    x += width + COLUMN_GAP;
  }
  return { positions, bends: bendsOf(passed, pairs, ranks) };
}

/** In the direction of the link, which may lead back. */
function bendsOf(passed: ReadonlyMap<string, Position>, pairs: Pair[], ranks: ReadonlyMap<string, number>) {
  const bends = new Map<string, Position[]>();
  for (const [from, to] of pairs) {
    const start = ranks.get(from) ?? 0;
    const end = ranks.get(to) ?? 0;
    const step = start <= end ? 1 : -1;
    const points: Position[] = [];
    for (let rank = start + step; rank !== end && start !== end; rank += step) {
      const point = passed.get(passingId(from, to, rank, ranks));
      if (point) points.push(point);
    }
    if (points.length > 0) bends.set(bendKey(from, to), points);
  }
  return bends;
}

/** The id of the place that is kept for a link in a column. No id of a node holds a zero byte. */
function passingId(from: string, to: string, rank: number, ranks: ReadonlyMap<string, number>): string {
  const [left, right] = (ranks.get(from) ?? 0) <= (ranks.get(to) ?? 0) ? [from, to] : [to, from];
  return `${left}\0${right}\0${rank}`;
}

/** The columns, and the links cut into steps from one column to the next. */
function columnsOf(boxes: Box[], pairs: Pair[], ranks: ReadonlyMap<string, number>) {
  const columns: Item[][] = [];
  const put = (rank: number, item: Item) => {
    columns[rank] ??= [];
    columns[rank].push(item);
  };
  for (const { id, height } of boxes) put(ranks.get(id) ?? 0, { id, height, isNode: true });
  const steps: Pair[] = [];
  for (const [from, to] of pairs) {
    // A link that leads back is drawn that way, and placed as if it led forward.
    const [left, right] = (ranks.get(from) ?? 0) <= (ranks.get(to) ?? 0) ? [from, to] : [to, from];
    const start = ranks.get(left) ?? 0;
    const end = ranks.get(right) ?? 0;
    let before = left;
    for (let rank = start + 1; rank < end && end - start <= LONGEST_KEPT; rank++) {
      const id = passingId(from, to, rank, ranks);
      put(rank, { id, height: LINK_HEIGHT, isNode: false });
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
