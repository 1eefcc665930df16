// Three-way merge of texts, line by line: the changes of one person are applied to what another has saved meanwhile.

/** Above this number of cells in the comparison table the texts are not merged, since that would stall the page. */
const MAX_CELLS = 9_000_000;

/** The lines of `base` from `start` to before `end` became `lines`. */
type Hunk = { start: number; end: number; lines: string[] };

/** Both changes of `base` in one text; null if they are in the same place, or if the texts are too long. */
export function mergeTexts(base: string, mine: string, theirs: string): string | null {
  const from = base.split('\n');
  const ours = hunksOf(from, mine.split('\n'));
  const others = hunksOf(from, theirs.split('\n'));
  if (!ours || !others) return null;
  const hunks = [...ours, ...others.filter((hunk) => !ours.some((own) => isSame(own, hunk)))];
  hunks.sort((a, b) => a.start - b.start || a.end - b.end);
  for (const [index, hunk] of hunks.entries()) {
    const next = hunks[index + 1];
    if (next && overlaps(hunk, next)) return null;
  }
  const merged: string[] = [];
  let at = 0;
  for (const { start, end, lines } of hunks) {
    merged.push(...from.slice(at, start), ...lines);
    at = end;
  }
  return [...merged, ...from.slice(at)].join('\n');
}

function isSame(a: Hunk, b: Hunk): boolean {
  return a.start === b.start && a.end === b.end && a.lines.join('\n') === b.lines.join('\n');
}

/** In order of their start. Two that insert lines in the same place overlap, too. */
function overlaps(first: Hunk, next: Hunk): boolean {
  return next.start < first.end || next.start === first.start;
}

/** The places where two texts differ; null if they are too long. */
function hunksOf(from: string[], to: string[]): Hunk[] | null {
  let head = 0;
  while (head < from.length && head < to.length && from[head] === to[head]) head++;
  let tail = 0;
  while (
    tail < from.length - head &&
    tail < to.length - head &&
    from[from.length - 1 - tail] === to[to.length - 1 - tail]
  )
    tail++;
  const a = from.slice(head, from.length - tail);
  const b = to.slice(head, to.length - tail);
  if (a.length * b.length > MAX_CELLS) return null;
  return differences(a, b).map(({ start, end, lines }) => ({ start: start + head, end: end + head, lines }));
}

/** Along a longest common subsequence. */
function differences(a: string[], b: string[]): Hunk[] {
  const width = b.length + 1;
  // The length of the longest common subsequence of the rest of both, by the position in each.
  const lengths = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const hunks: Hunk[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const [start, first] = [i, j];
    while ((i < a.length || j < b.length) && !(i < a.length && j < b.length && a[i] === b[j])) {
      if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) i++;
      else j++;
    }
    if (i > start || j > first) hunks.push({ start, end: i, lines: b.slice(first, j) });
    while (i < a.length && j < b.length && a[i] === b[j]) {
      i++;
      j++;
    }
  }
  return hunks;
}
