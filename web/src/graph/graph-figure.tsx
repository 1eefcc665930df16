import { lazy, type RefObject, Suspense, useEffect, useRef, useState } from 'react';
import { classes } from '@/ui/classes';
import { Fold } from '@/ui/page/fold';
import { Skeleton } from '@/ui/page/states';
import { GraphText } from './graph-text';
import type { GraphViewProps } from './graph-view';

const GraphView = lazy(() => import('./graph-view').then(({ GraphView }) => ({ default: GraphView })));

/** A graph as an interactive view with a text version below. The view is loaded lazily. */
export function GraphFigure(props: GraphViewProps) {
  const { graph, nodes, hasEnded, className, fullPage } = props;
  const caption = useRef<HTMLElement>(null);
  const isTextOpen = useIsOpen(caption);
  return (
    <figure className={classes('flex min-w-0 flex-col gap-2', fullPage && 'h-full')}>
      <Suspense fallback={<Skeleton className={className} />}>
        <GraphView {...props} />
      </Suspense>
      <figcaption ref={caption} className={classes(fullPage && 'px-4 pb-2')}>
        <Fold title="Text version">
          {/* Always rendered, so that the browser's search finds it. While collapsed it does not follow the run. */}
          <GraphText graph={graph} nodes={isTextOpen ? nodes : undefined} hasEnded={isTextOpen && hasEnded} />
        </Fold>
      </figcaption>
    </figure>
  );
}

/** Whether the `details` inside an element is open. `toggle` does not bubble, so it is handled in the capture phase. */
function useIsOpen(container: RefObject<HTMLElement | null>): boolean {
  const [isOpen, setIsOpen] = useState(false);
  useEffect(() => {
    const element = container.current;
    const onToggle = ({ target }: Event) => setIsOpen(target instanceof HTMLDetailsElement && target.open);
    element?.addEventListener('toggle', onToggle, { capture: true });
    return () => element?.removeEventListener('toggle', onToggle, { capture: true });
  }, [container]);
  return isOpen;
}
