// A link of the graph: a curve from pin to pin through the points reserved for it by the layout.

import { BaseEdge, type Edge, type EdgeProps } from '@xyflow/react';
import { useContext } from 'react';
import { GraphContext } from './graph-context';
import type { Position } from './layout/layout';

export type FlowEdge = Edge<{ bends: Position[]; linkId: string | null }, 'link'>;

export function GraphLink({ id, sourceX, sourceY, targetX, targetY, data }: EdgeProps<FlowEdge>) {
  const start = { x: sourceX, y: sourceY };
  const end = { x: targetX, y: targetY };
  const { links } = useContext(GraphContext).problems;
  const isBad = data?.linkId ? links.has(data.linkId) : false;
  return (
    <BaseEdge
      id={id}
      className={isBad ? 'graph-link-bad' : undefined}
      path={curve([start, ...(data?.bends ?? []), end])}
    />
  );
}

/** A smooth path of Bézier segments: the curve is horizontal at every point. */
export function curve(points: Position[]): string {
  const [first, ...rest] = points;
  if (!first) return '';
  let before = first;
  const pieces = rest.map((point) => {
    const offset = Math.max(24, Math.abs(point.x - before.x) / 2);
    const piece = `C ${before.x + offset} ${before.y}, ${point.x - offset} ${point.y}, ${point.x} ${point.y}`;
    before = point;
    return piece;
  });
  return `M ${first.x} ${first.y} ${pieces.join(' ')}`;
}
