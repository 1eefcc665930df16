import { lazy, type RefObject, Suspense, useEffect, useRef, useState } from 'react';
import type { NodeState } from '@/library/run/run-state';
import type { GraphDetails } from '@/protocol';
import { classes } from '@/ui/classes';
import { Fold } from '@/ui/fold';
import { Skeleton } from '@/ui/states';
import { GraphText } from './graph-text';

const GraphView = lazy(() => import('./graph-view').then(({ GraphView }) => ({ default: GraphView })));

type Props = {
  graph: GraphDetails;
  /** How a run of it stands. */
  nodes?: ReadonlyMap<string, NodeState>;
  /** Gives the height. */
  className?: string;
  /** It is what the page is about: the wheel zooms, and there is a map. */
  alone?: boolean;
};

/** A graph as a picture that can be moved, and in words below it. What draws is loaded when it is first needed. */
export function GraphFigure({ graph, nodes, className, alone }: Props) {
  const caption = useRef<HTMLElement>(null);
  const isRead = useIsOpen(caption);
  return (
    <figure className={classes('flex min-w-0 flex-col gap-2', alone && 'h-full')}>
      <Suspense fallback={<Skeleton className={className} />}>
        <GraphView graph={graph} nodes={nodes} className={className} alone={alone} />
      </Suspense>
      <figcaption ref={caption} className={classes(alone && 'px-4 pb-2')}>
        <Fold title="The graph in words">
          {/* Always there, so that the browser's search finds it; but folded it does not change with the run. */}
          <GraphText graph={graph} nodes={isRead ? nodes : undefined} />
        </Fold>
      </figcaption>
    </figure>
  );
}

/** Whether what can be folded in an element is open. The event does not bubble, so it is caught on its way down. */
function useIsOpen(around: RefObject<HTMLElement | null>): boolean {
  const [isOpen, setIsOpen] = useState(false);
  useEffect(() => {
    const element = around.current;
    const look = ({ target }: Event) => setIsOpen(target instanceof HTMLDetailsElement && target.open);
    element?.addEventListener('toggle', look, { capture: true });
    return () => element?.removeEventListener('toggle', look, { capture: true });
  }, [around]);
  return isOpen;
}
