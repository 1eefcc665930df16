// How high the items of a column stand: as near to the middle of their neighbors as their order and size allow.

import type { Item } from './layout';
import { neighbors, type Pair } from './ranks';

const SWEEPS = 8;

/** The middle of every item, by id. */
export function placed(columns: Item[][], steps: Pair[], gap: number): Map<string, number> {
  const toRight = neighbors(steps);
  const toLeft = neighbors(steps.map(([from, to]) => [to, from]));
  const centers = new Map<string, number>();
  for (const column of columns) settle(column, gap, () => 0, centers);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const isRightward = sweep % 2 === 0;
    const towards = isRightward ? toLeft : toRight;
    for (const column of isRightward ? columns : columns.toReversed()) {
      settle(column, gap, (id) => mean(towards.get(id), centers) ?? centers.get(id) ?? 0, centers);
    }
  }
  return centers;
}

/** Puts a column as near to what is wanted as can be without overlaps, by the least squares. */
function settle(
  column: Item[],
  gap: number,
  wanted: (id: string) => number,
  centers: Map<string, number>,
): void {
  // Distances are taken out first; what remains must only not go down, and runs that would are put to their mean.
  let offset = 0;
  const offsets = column.map((item, index) => {
    const above = column[index - 1];
    if (above) offset += above.height / 2 + item.height / 2 + gap;
    return offset;
  });
  const runs: { sum: number; size: number }[] = [];
  column.forEach((item, index) => {
    runs.push({ sum: wanted(item.id) - (offsets[index] ?? 0), size: 1 });
    for (;;) {
      const last = runs.at(-1);
      const before = runs.at(-2);
      if (!last || !before || before.sum / before.size <= last.sum / last.size) break;
      runs.splice(-2, 2, { sum: before.sum + last.sum, size: before.size + last.size });
    }
  });
  let index = 0;
  for (const run of runs) {
    for (let place = 0; place < run.size; place++, index++) {
      const item = column[index];
      if (item) centers.set(item.id, run.sum / run.size + (offsets[index] ?? 0));
    }
  }
}

function mean(ids: string[] | undefined, centers: ReadonlyMap<string, number>): number | undefined {
  if (!ids || ids.length === 0) return undefined;
  return ids.reduce((sum, id) => sum + (centers.get(id) ?? 0), 0) / ids.length;
}
