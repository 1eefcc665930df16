// Drawing of a graph: boxes with the linked pins, and the links between them.

import type { Graph, Link, Node } from '@/protocol';
import { type Box, bendKey, layout, type Position } from './layout/layout';
import type { Pair } from './layout/ranks';

export type DrawnNode = { node: Node; inputs: string[]; outputs: string[]; box: Box; position: Position };
export type DrawnLink = Link & { key: string; bends: Position[] };
export type Drawing = { nodes: DrawnNode[]; links: DrawnLink[] };

const NODE_WIDTH = 224;
export const HEAD_HEIGHT = 58;
export const PIN_HEIGHT = 24;
const FOOT_HEIGHT = 8;

export function drawingOf(graph: Pick<Graph, 'nodes' | 'links'>): Drawing {
  // Of nodes with the same id, the first one is kept.
  const nodes = [
    ...new Map((graph.nodes ?? []).toReversed().map((node) => [node.id, node])).values(),
  ].toReversed();
  const known = new Set(nodes.map((node) => node.id));
  const links = (graph.links ?? [])
    .filter((link) => known.has(link.source_id) && known.has(link.sink_id))
    .map((link, index) => ({ ...link, key: `${index}` }));
  const inputs = pinsOf(links.map((link) => [link.sink_id, link.sink_name]));
  const outputs = pinsOf(links.map((link) => [link.source_id, link.source_name]));
  const drawn = nodes.map((node) => {
    const pins = { inputs: inputs.get(node.id) ?? [], outputs: outputs.get(node.id) ?? [] };
    const rows = Math.max(pins.inputs.length, pins.outputs.length);
    return {
      node,
      ...pins,
      box: { id: node.id, width: NODE_WIDTH, height: HEAD_HEIGHT + rows * PIN_HEIGHT + FOOT_HEIGHT },
    };
  });
  const { positions, bends } = layout(
    drawn.map(({ box }) => box),
    links.map((link): Pair => [link.source_id, link.sink_id]),
  );
  const height = (id: string) => positions.get(id)?.y ?? 0;
  const sources = heightsOf(links.map((link) => [link.sink_id, link.sink_name, height(link.source_id)]));
  const sinks = heightsOf(links.map((link) => [link.source_id, link.source_name, height(link.sink_id)]));
  return {
    nodes: drawn.map((one) => ({
      ...one,
      inputs: byHeight(one.inputs, sources.get(one.node.id)),
      outputs: byHeight(one.outputs, sinks.get(one.node.id)),
      position: positions.get(one.node.id) ?? { x: 0, y: 0 },
    })),
    links: links.map((link) => ({ ...link, bends: bends.get(bendKey(link.source_id, link.sink_id)) ?? [] })),
  };
}

/** Label of a pin. `values_#_name` refers to a part of a value: "values → name". */
export function pinLabel(pin: string): string {
  return pin.replace(/_(?:#|\$|@)_/g, ' → ').replace(/_/g, ' ');
}

function pinsOf(used: [node: string, pin: string][]): Map<string, string[]> {
  const pins = new Map<string, Set<string>>();
  for (const [node, pin] of used) {
    const known = pins.get(node) ?? new Set();
    pins.set(node, known.add(pin));
  }
  return new Map([...pins].map(([node, names]) => [node, [...names]]));
}

type Heights = Map<string, number>;

/** By node and pin: the smallest y coordinate of the linked nodes. */
function heightsOf(ends: [node: string, pin: string, height: number][]): Map<string, Heights> {
  const all = new Map<string, Heights>();
  for (const [node, pin, height] of ends) {
    const pins = all.get(node) ?? new Map();
    pins.set(pin, Math.min(pins.get(pin) ?? height, height));
    all.set(node, pins);
  }
  return all;
}

/** Pins ordered by the positions of the linked nodes, so that links do not cross. */
function byHeight(pins: string[], heights: Heights = new Map()): string[] {
  return pins.toSorted((a, b) => (heights.get(a) ?? 0) - (heights.get(b) ?? 0));
}
