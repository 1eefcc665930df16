import { ArrowDown, ArrowRight, ArrowUp, Pause, Play, RotateCcw, X } from 'lucide-react';
import {
  type KeyboardEvent,
  type PointerEvent,
  type RefObject,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import { Button, IconButton } from '@/ui/button';
import { type Phase, useVoyage } from './use-voyage';
import { HEIGHT } from './voyage';
import { VoyageScene } from './voyage-scene';

const UP = new Set(['ArrowUp', 'w', 'W']);
const DOWN = new Set(['ArrowDown', 's', 'S']);

/** Steer a boat through the buoys, by keyboard, mouse or finger. It pauses when somebody turns away. */
export function VoyageGame({ onClose }: { onClose: () => void }) {
  const [still] = useState(() => matchMedia('(prefers-reduced-motion: reduce)').matches);
  const { voyage, phase, best, hands, start, pause, resume, stroke } = useVoyage(still);
  const water = useRef<HTMLDivElement>(null);
  const hint = useId();
  const takeTheHelm = () => water.current?.focus({ preventScroll: true });
  useEffect(takeTheHelm, []);
  usePauseOutOfSight(water, pause);

  const advance = () => {
    if (phase === 'sailing') return pause();
    // The keys steer only from the water, also when it was a button that set sail.
    takeTheHelm();
    if (phase === 'paused') resume();
    else start();
  };
  const startAgain = () => {
    takeTheHelm();
    start();
  };
  const steer = (direction: number) => {
    if (phase === 'ready') start();
    if (still) stroke(direction);
    else Object.assign(hands, { direction, target: null });
  };
  const press = (event: KeyboardEvent) => {
    const direction = UP.has(event.key) ? -1 : DOWN.has(event.key) ? 1 : null;
    if (direction !== null) steer(direction);
    else if (event.key === 'ArrowRight' && still) steer(0);
    else if (event.key === ' ' || event.key === 'Enter' || event.key === 'p') advance();
    else if (event.key === 'Escape') onClose();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const release = (event: KeyboardEvent) => {
    if (UP.has(event.key) && hands.direction < 0) hands.direction = 0;
    if (DOWN.has(event.key) && hands.direction > 0) hands.direction = 0;
  };
  const point = (event: PointerEvent<HTMLDivElement>) => {
    if (still || phase !== 'sailing') return;
    const { top, height } = event.currentTarget.getBoundingClientRect();
    hands.target = ((event.clientY - top) / height) * HEIGHT;
  };

  return (
    <div className="flex max-w-xl flex-col gap-2">
      <div
        ref={water}
        role="application"
        tabIndex={0}
        aria-label="Voyage, a small game"
        aria-describedby={hint}
        onKeyDown={press}
        onKeyUp={release}
        // Without a clock there is nothing to pause, and the buttons for strokes would vanish when pressed.
        onBlur={still ? undefined : pause}
        onPointerDown={(event) => {
          if (phase !== 'sailing') advance();
          else point(event);
        }}
        onPointerMove={point}
        onPointerLeave={() => {
          hands.target = null;
        }}
        className="relative touch-none overflow-hidden rounded-lg border border-line select-none"
      >
        <VoyageScene voyage={voyage} />
        {phase !== 'sailing' && <Banner phase={phase} passed={voyage.passed} />}
      </div>
      <p id={hint} className="text-xs text-muted">
        {still
          ? 'Each press moves the boat one stroke: up, ahead or down. Pass between the buoys.'
          : 'Pass between the buoys: arrow keys, or point where to sail. Space pauses, Escape closes.'}
      </p>
      <div className="flex flex-wrap items-center gap-2">
        <Button
          size="small"
          icon={phase === 'sailing' ? <Pause className="size-4" /> : <Play className="size-4" />}
          // The water would otherwise lose the focus first and pause what is to be paused here.
          onPointerDown={(event) => event.preventDefault()}
          onClick={advance}
        >
          {{ ready: 'Set sail', sailing: 'Pause', paused: 'Sail on', over: 'Sail again' }[phase]}
        </Button>
        {still && phase === 'sailing' && (
          <>
            <IconButton label="One stroke up" onClick={() => steer(-1)}>
              <ArrowUp className="size-4" />
            </IconButton>
            <IconButton label="One stroke ahead" onClick={() => steer(0)}>
              <ArrowRight className="size-4" />
            </IconButton>
            <IconButton label="One stroke down" onClick={() => steer(1)}>
              <ArrowDown className="size-4" />
            </IconButton>
          </>
        )}
        {phase === 'paused' && (
          <IconButton label="Start again" onClick={startAgain}>
            <RotateCcw className="size-4" />
          </IconButton>
        )}
        <span className="ml-auto text-xs text-muted tabular-nums">
          Gates {voyage.passed}, best {best}
        </span>
        <IconButton label="Close the game" onClick={onClose}>
          <X className="size-4" />
        </IconButton>
      </div>
      <p role="status" className="sr-only">
        {phase === 'over' ? `The voyage has ended after ${gates(voyage.passed)}.` : ''}
      </p>
    </div>
  );
}

/** Nobody steers what they cannot see. */
function usePauseOutOfSight(water: RefObject<HTMLElement | null>, pause: () => void): void {
  useEffect(() => {
    if (!water.current) return;
    const watcher = new IntersectionObserver((seen) => !seen.at(-1)?.isIntersecting && pause());
    watcher.observe(water.current);
    return () => watcher.disconnect();
  }, [water, pause]);
}

function Banner({ phase, passed }: { phase: Phase; passed: number }) {
  const words =
    phase === 'over'
      ? `Aground after ${gates(passed)}`
      : phase === 'paused'
        ? 'Paused'
        : 'Press here to set sail';
  return (
    <div
      aria-hidden
      className="pointer-events-none absolute inset-0 flex items-center justify-center bg-canvas/50 px-4 text-center text-sm font-medium"
    >
      {words}
    </div>
  );
}

function gates(count: number): string {
  return count === 1 ? 'one gate' : `${count} gates`;
}
