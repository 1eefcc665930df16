// Orders the items of each column, so that few links cross.

import { neighbors, type Pair } from './ranks';

/** A node, or a gap reserved for a link that passes a column. */
export type Item = { id: string; height: number; isNode: boolean };

const SWEEPS = 6;

/** Barycenter heuristic: sorts each column by the mean index of its neighbors, in alternating directions. */
export function orderColumns(columns: Item[][], steps: Pair[]): Item[][] {
  const toRight = neighbors(steps);
  const toLeft = neighbors(steps.map(([from, to]) => [to, from]));
  let result = columns;
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    result =
      sweep % 2 === 0 ? sortColumns(result, toLeft) : sortColumns(result.toReversed(), toRight).toReversed();
  }
  return result;
}

function sortColumns(columns: Item[][], before: ReadonlyMap<string, string[]>): Item[][] {
  const indexes = new Map<string, number>();
  return columns.map((column) => {
    const target = new Map(
      column.map((item, index) => [item.id, meanIndex(before.get(item.id), indexes) ?? index]),
    );
    // Sorting is stable: items with the same target keep their order.
    const sorted = column.toSorted((a, b) => (target.get(a.id) ?? 0) - (target.get(b.id) ?? 0));
    sorted.forEach((item, index) => {
      indexes.set(item.id, index);
    });
    return sorted;
  });
}

function meanIndex(ids: string[] | undefined, indexes: ReadonlyMap<string, number>): number | undefined {
  const known = (ids ?? []).flatMap((id) => indexes.get(id) ?? []);
  return known.length > 0 ? known.reduce((sum, one) => sum + one, 0) / known.length : undefined;
}
