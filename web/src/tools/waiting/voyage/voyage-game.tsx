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
import { Button, IconButton } from '@/ui/buttons/button';
import { type Phase, useVoyage } from './use-voyage';
import { HEIGHT } from './voyage';
import { VoyageScene } from './voyage-scene';

const UP = new Set(['ArrowUp', 'w', 'W']);
const DOWN = new Set(['ArrowDown', 's', 'S']);

/** A game: steer a boat between buoys with keyboard, mouse or touch. It pauses when it loses focus or is out of view. */
export function VoyageGame({ onClose }: { onClose: () => void }) {
  const [reducedMotion] = useState(() => matchMedia('(prefers-reduced-motion: reduce)').matches);
  const { voyage, phase, best, controls, start, pause, resume, move } = useVoyage(reducedMotion);
  const area = useRef<HTMLDivElement>(null);
  const hint = useId();
  const focusGame = () => area.current?.focus({ preventScroll: true });
  useEffect(focusGame, []);
  usePauseOutOfView(area, pause);

  const advance = () => {
    if (phase === 'playing') return pause();
    // The keys only work while the game area has focus, also after a click on a button.
    focusGame();
    if (phase === 'paused') resume();
    else start();
  };
  const restart = () => {
    focusGame();
    start();
  };
  const steer = (direction: number) => {
    if (phase === 'ready') start();
    if (reducedMotion) move(direction);
    else Object.assign(controls, { direction, target: null });
  };
  const press = (event: KeyboardEvent) => {
    const direction = UP.has(event.key) ? -1 : DOWN.has(event.key) ? 1 : null;
    if (direction !== null) steer(direction);
    else if (event.key === 'ArrowRight' && reducedMotion) steer(0);
    else if (event.key === ' ' || event.key === 'Enter' || event.key === 'p') advance();
    else if (event.key === 'Escape') onClose();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const release = (event: KeyboardEvent) => {
    if (UP.has(event.key) && controls.direction < 0) controls.direction = 0;
    if (DOWN.has(event.key) && controls.direction > 0) controls.direction = 0;
  };
  const point = (event: PointerEvent<HTMLDivElement>) => {
    if (reducedMotion || phase !== 'playing') return;
    const { top, height } = event.currentTarget.getBoundingClientRect();
    controls.target = ((event.clientY - top) / height) * HEIGHT;
  };

  return (
    <div className="flex max-w-xl flex-col gap-2">
      <div
        ref={area}
        role="application"
        tabIndex={0}
        aria-label="Voyage game"
        aria-describedby={hint}
        onKeyDown={press}
        onKeyUp={release}
        // With reduced motion there is no clock to pause, and pausing would hide the move buttons when they are clicked.
        onBlur={reducedMotion ? undefined : pause}
        onPointerDown={(event) => {
          if (phase !== 'playing') advance();
          else point(event);
        }}
        onPointerMove={point}
        onPointerLeave={() => {
          controls.target = null;
        }}
        className="relative touch-none overflow-hidden rounded-lg border border-line select-none"
      >
        <VoyageScene voyage={voyage} />
        {phase !== 'playing' && <Banner phase={phase} passed={voyage.passed} />}
      </div>
      <p id={hint} className="text-xs text-muted">
        {reducedMotion
          ? 'Steer between the buoys. Each press moves the boat once: up, ahead or down.'
          : 'Steer between the buoys with the arrow keys or the pointer. Space pauses, Escape closes.'}
      </p>
      <div className="flex flex-wrap items-center gap-2">
        <Button
          size="small"
          icon={phase === 'playing' ? <Pause className="size-4" /> : <Play className="size-4" />}
          // Keeps the focus on the game area: losing it would pause the game before this click does.
          onPointerDown={(event) => event.preventDefault()}
          onClick={advance}
        >
          {{ ready: 'Start', playing: 'Pause', paused: 'Resume', over: 'Play again' }[phase]}
        </Button>
        {reducedMotion && phase === 'playing' && (
          <>
            <IconButton label="Move up" onClick={() => steer(-1)}>
              <ArrowUp className="size-4" />
            </IconButton>
            <IconButton label="Move ahead" onClick={() => steer(0)}>
              <ArrowRight className="size-4" />
            </IconButton>
            <IconButton label="Move down" onClick={() => steer(1)}>
              <ArrowDown className="size-4" />
            </IconButton>
          </>
        )}
        {phase === 'paused' && (
          <IconButton label="Restart" onClick={restart}>
            <RotateCcw className="size-4" />
          </IconButton>
        )}
        <span className="ml-auto text-xs text-muted tabular-nums">
          Score {voyage.passed}, best {best}
        </span>
        <IconButton label="Close game" onClick={onClose}>
          <X className="size-4" />
        </IconButton>
      </div>
      <p role="status" className="sr-only">
        {phase === 'over' ? `Game over. Score ${voyage.passed}.` : ''}
      </p>
    </div>
  );
}

/** Pauses the game when it is scrolled out of view. */
function usePauseOutOfView(area: RefObject<HTMLElement | null>, pause: () => void): void {
  useEffect(() => {
    if (!area.current) return;
    const observer = new IntersectionObserver((entries) => !entries.at(-1)?.isIntersecting && pause());
    observer.observe(area.current);
    return () => observer.disconnect();
  }, [area, pause]);
}

function Banner({ phase, passed }: { phase: Phase; passed: number }) {
  const text =
    phase === 'over' ? `Game over. Score ${passed}` : phase === 'paused' ? 'Paused' : 'Click to start';
  return (
    <div
      aria-hidden
      className="pointer-events-none absolute inset-0 flex items-center justify-center bg-canvas/50 px-4 text-center text-sm font-medium"
    >
      {text}
    </div>
  );
}
