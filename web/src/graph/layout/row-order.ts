// In which order the items of a column stand below each other, so that links cross little.

import type { Item } from './layout';
import { neighbors, type Pair } from './ranks';

const SWEEPS = 6;

/** Every item goes where the middle of its neighbors in the column before is, to the right and back, a few times. */
export function ordered(columns: Item[][], steps: Pair[]): Item[][] {
  const toRight = neighbors(steps);
  const toLeft = neighbors(steps.map(([from, to]) => [to, from]));
  let result = columns;
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    result = sweep % 2 === 0 ? swept(result, toLeft) : swept(result.toReversed(), toRight).toReversed();
  }
  return result;
}

function swept(columns: Item[][], before: ReadonlyMap<string, string[]>): Item[][] {
  const place = new Map<string, number>();
  return columns.map((column) => {
    const wanted = new Map(
      column.map((item, index) => [item.id, middle(before.get(item.id), place) ?? index]),
    );
    // Sorting is stable: items that want the same stay as they were.
    const sorted = column.toSorted((a, b) => (wanted.get(a.id) ?? 0) - (wanted.get(b.id) ?? 0));
    sorted.forEach((item, index) => {
      place.set(item.id, index);
    });
    return sorted;
  });
}

function middle(ids: string[] | undefined, place: ReadonlyMap<string, number>): number | undefined {
  const places = (ids ?? []).flatMap((id) => place.get(id) ?? []);
  return places.length > 0 ? places.reduce((sum, one) => sum + one, 0) / places.length : undefined;
}
