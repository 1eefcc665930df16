// Vertical positions of the items of each column: as close to the mean of their neighbors as order and size allow.

import { neighbors, type Pair } from './ranks';
import type { Item } from './row-order';

const SWEEPS = 8;

/** Vertical center of each item, by id. */
export function rowCenters(columns: Item[][], steps: Pair[], gap: number): Map<string, number> {
  const toRight = neighbors(steps);
  const toLeft = neighbors(steps.map(([from, to]) => [to, from]));
  const centers = new Map<string, number>();
  for (const column of columns) placeColumn(column, gap, () => 0, centers);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const isRightward = sweep % 2 === 0;
    const towards = isRightward ? toLeft : toRight;
    for (const column of isRightward ? columns : columns.toReversed()) {
      placeColumn(column, gap, (id) => mean(towards.get(id), centers) ?? centers.get(id) ?? 0, centers);
    }
  }
  return centers;
}

/** Places a column as close to the target positions as possible without overlaps (least squares). */
function placeColumn(
  column: Item[],
  gap: number,
  target: (id: string) => number,
  centers: Map<string, number>,
): void {
  // Isotonic regression: after subtracting the minimum distances, the positions must not decrease. Neighboring groups
  // that violate this are merged and take their mean.
  let offset = 0;
  const offsets = column.map((item, index) => {
    const above = column[index - 1];
    if (above) offset += above.height / 2 + item.height / 2 + gap;
    return offset;
  });
  const groups: { sum: number; size: number }[] = [];
  column.forEach((item, index) => {
    groups.push({ sum: target(item.id) - (offsets[index] ?? 0), size: 1 });
    for (;;) {
      const last = groups.at(-1);
      const before = groups.at(-2);
      if (!last || !before || before.sum / before.size <= last.sum / last.size) break;
      groups.splice(-2, 2, { sum: before.sum + last.sum, size: before.size + last.size });
    }
  });
  let index = 0;
  for (const group of groups) {
    for (let count = 0; count < group.size; count++, index++) {
      const item = column[index];
      if (item) centers.set(item.id, group.sum / group.size + (offsets[index] ?? 0));
    }
  }
}

function mean(ids: string[] | undefined, centers: ReadonlyMap<string, number>): number | undefined {
  if (!ids || ids.length === 0) return undefined;
  return ids.reduce((sum, id) => sum + (centers.get(id) ?? 0), 0) / ids.length;
}
