// Assigns each node to a column: to the right of all nodes with a link to it.

export type Pair = readonly [from: string, to: string];

export function ranksOf(ids: string[], pairs: Pair[]): Map<string, number> {
  const forward = withoutCycles(ids, pairs);
  const next = neighbors(forward);
  const before = neighbors(forward.map(([from, to]) => [to, from]));
  const waiting = new Map(ids.map((id) => [id, before.get(id)?.length ?? 0]));
  const ready = ids.filter((id) => waiting.get(id) === 0);
  const ranks = new Map(ids.map((id) => [id, 0]));
  const order: string[] = [];
  for (let id = ready.pop(); id !== undefined; id = ready.pop()) {
    order.push(id);
    for (const after of next.get(id) ?? []) {
      ranks.set(after, Math.max(ranks.get(after) ?? 0, (ranks.get(id) ?? 0) + 1));
      const left = (waiting.get(after) ?? 0) - 1;
      waiting.set(after, left);
      if (left === 0) ready.push(after);
    }
  }
  // A node without incoming links is placed just before its first successor instead of in the first column.
  for (const id of order) {
    const after = next.get(id) ?? [];
    if ((before.get(id)?.length ?? 0) > 0 || after.length === 0) continue;
    ranks.set(id, Math.max(0, Math.min(...after.map((one) => ranks.get(one) ?? 0)) - 1));
  }
  return ranks;
}

/** The links without those that close a cycle. */
function withoutCycles(ids: string[], pairs: Pair[]): Pair[] {
  const next = neighbors(pairs);
  const state = new Map<string, 'open' | 'done'>();
  const back = new Set<string>();
  for (const root of ids) {
    if (state.has(root)) continue;
    // Iterative: recursion would be too deep for a chain of 2,000 nodes.
    const path: { id: string; at: number }[] = [{ id: root, at: 0 }];
    state.set(root, 'open');
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const to = next.get(top.id)?.[top.at++];
      if (to === undefined) {
        state.set(top.id, 'done');
        path.pop();
      } else if (state.get(to) === 'open') {
        back.add(`${top.id}\0${to}`);
      } else if (!state.has(to)) {
        state.set(to, 'open');
        path.push({ id: to, at: 0 });
      }
    }
  }
  return pairs.filter(([from, to]) => !back.has(`${from}\0${to}`));
}

export function neighbors(pairs: readonly Pair[]): Map<string, string[]> {
  const all = new Map<string, string[]>();
  for (const [from, to] of pairs) {
    const list = all.get(from);
    if (list) list.push(to);
    else all.set(from, [to]);
  }
  return all;
}
