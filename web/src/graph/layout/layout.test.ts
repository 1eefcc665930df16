import { describe, expect, it } from 'vitest';
import { type Box, bendKey, layout, type Position } from './layout';
import type { Pair } from './ranks';

const box = (id: string, height = 80): Box => ({ id, width: 200, height });

function positionsOf(ids: string, links: string): Map<string, Position> {
  const pairs = links ? links.split(' ').map((link) => link.split('>') as unknown as Pair) : [];
  return layout(
    [...ids].map((id) => box(id)),
    pairs,
  ).positions;
}

function overlaps(boxes: Box[], positions: Map<string, Position>): string[] {
  return boxes.flatMap((a, index) =>
    boxes.slice(index + 1).flatMap((b) => {
      const [p, q] = [positions.get(a.id), positions.get(b.id)];
      if (!p || !q) return [`${a.id} or ${b.id} has no position`];
      const apart =
        p.x + a.width <= q.x ||
        q.x + b.width <= p.x ||
        p.y + a.height <= q.y + 0.001 ||
        q.y + b.height <= p.y + 0.001;
      return apart ? [] : [`${a.id} overlaps ${b.id}`];
    }),
  );
}

describe('layout', () => {
  it('places linked nodes from left to right', () => {
    const at = positionsOf('abcd', 'a>b b>c a>d d>c');
    const x = (id: string) => at.get(id)?.x ?? Number.NaN;
    expect(x('a')).toBeLessThan(x('b'));
    expect(x('b')).toBeLessThan(x('c'));
    expect(x('b')).toBe(x('d'));
  });

  it('draws a chain as a straight line', () => {
    const at = positionsOf('abc', 'a>b b>c');
    expect(new Set([...at.values()].map((position) => position.y)).size).toBe(1);
  });

  it('avoids unnecessary crossings', () => {
    const at = positionsOf('abcd', 'a>d b>c');
    const y = (id: string) => at.get(id)?.y ?? Number.NaN;
    expect(Math.sign(y('a') - y('b'))).toBe(Math.sign(y('d') - y('c')));
  });

  it('places a node without incoming links in the column before its successor', () => {
    const at = positionsOf('abcx', 'a>b b>c x>c');
    expect(at.get('x')?.x).toBe(at.get('b')?.x);
  });

  it('reserves space for a link that spans several columns', () => {
    const boxes = [...'abcd'].map((id) => box(id));
    const links: Pair[] = [
      ['a', 'b'],
      ['b', 'c'],
      ['c', 'd'],
      ['a', 'd'],
    ];
    const { positions, bends } = layout(boxes, links);
    const route = bends.get(bendKey('a', 'd')) ?? [];
    expect(route.length).toBe(2);
    for (const [index, id] of ['b', 'c'].entries()) {
      const top = positions.get(id)?.y ?? Number.NaN;
      const y = route[index]?.y ?? Number.NaN;
      expect(y < top || y > top + 80).toBe(true);
    }
    expect(bends.has(bendKey('a', 'b'))).toBe(false);
  });

  it('terminates with cycles, self links, links to missing nodes and duplicate links', () => {
    const at = positionsOf('abc', 'a>b b>c c>a a>a a>z z>b a>b');
    expect([...at.keys()].sort()).toEqual(['a', 'b', 'c']);
    expect([...at.values()].every(({ x, y }) => Number.isFinite(x) && Number.isFinite(y))).toBe(true);
  });

  it('accepts no nodes, and nodes without links', () => {
    expect(layout([], []).positions.size).toBe(0);
    const boxes = [box('a'), box('b'), box('c')];
    expect(overlaps(boxes, layout(boxes, []).positions)).toEqual([]);
  });

  it('never overlaps nodes of any size', () => {
    const boxes = Array.from({ length: 120 }, (_, index) => box(`n${index}`, 40 + ((index * 37) % 200)));
    const links = Array.from(
      { length: 200 },
      (_, index): Pair => [`n${(index * 7) % 120}`, `n${(index * 13 + 5) % 120}`],
    );
    expect(overlaps(boxes, layout(boxes, links).positions)).toEqual([]);
  });

  it('handles a chain of 2,000 nodes', () => {
    const boxes = Array.from({ length: 2000 }, (_, index) => box(`n${index}`));
    const links = boxes.slice(1).map((_, index): Pair => [`n${index}`, `n${index + 1}`]);
    expect(layout(boxes, links).positions.size).toBe(2000);
  });
});
