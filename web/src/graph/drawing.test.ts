import { describe, expect, it } from 'vitest';
import type { Link, Node } from '@/protocol';
import { drawingOf, pinLabel } from './drawing';

const node = (id: string): Node => ({ id, block_id: 'b' });
const link = (source_id: string, source_name: string, sink_id: string, sink_name: string): Link => ({
  source_id,
  source_name,
  sink_id,
  sink_name,
});

describe('drawingOf', () => {
  it('has each linked pin once', () => {
    const { nodes } = drawingOf({
      nodes: [node('a'), node('b'), node('c')],
      links: [link('a', 'out', 'b', 'in'), link('a', 'out', 'c', 'in'), link('a', 'error', 'c', 'why')],
    });
    expect(nodes[0]?.outputs.toSorted()).toEqual(['error', 'out']);
    expect(nodes[2]?.inputs.toSorted()).toEqual(['in', 'why']);
  });

  it('orders pins by the positions of the linked nodes', () => {
    const { nodes } = drawingOf({
      nodes: [node('a'), node('b'), node('c')],
      links: [link('a', 'first', 'b', 'in'), link('a', 'second', 'c', 'in')],
    });
    const height = (id: string) => nodes.find((one) => one.node.id === id)?.position.y ?? 0;
    const expected = height('b') < height('c') ? ['first', 'second'] : ['second', 'first'];
    expect(nodes[0]?.outputs).toEqual(expected);
  });

  it('drops links to missing nodes, and keeps the first of nodes with the same id', () => {
    const twice = { ...node('a'), block_id: 'other' };
    const { nodes, links } = drawingOf({
      nodes: [node('a'), twice],
      links: [link('a', 'out', 'missing', 'in')],
    });
    expect(nodes.map((one) => one.node.block_id)).toEqual(['b']);
    expect(links).toEqual([]);
  });

  it('accepts an empty graph', () => {
    expect(drawingOf({})).toEqual({ nodes: [], links: [] });
  });

  it('labels pins that refer to a part of a value', () => {
    expect(pinLabel('values_#_name')).toBe('values → name');
    expect(pinLabel('result_$_0_#_id')).toBe('result → 0 → id');
    expect(pinLabel('updated_list')).toBe('updated list');
  });
});
