import { useCallback, useEffect, useRef, useState } from 'react';
import { newVoyage, steeringTowards, step, type Voyage } from './voyage';

const BEST = 'voyage.best';
/** With reduced motion there is no clock: each key press or click advances the game by one move of this length. */
const MOVE_STEPS = 5;
const MOVE_STEP_SECONDS = 0.09;

export type Phase = 'ready' | 'playing' | 'paused' | 'over';

/** Player input: the keys set a direction, a pointer sets a target position. */
type Controls = { direction: number; target: number | null };

/** State and clock of the game. The clock runs only while the game is played and the page is visible. */
export function useVoyage(reducedMotion: boolean) {
  const [voyage, setVoyage] = useState<Voyage>(() => newVoyage(Date.now()));
  const [phase, setPhase] = useState<Phase>('ready');
  const [best, setBest] = useState(storedBest);
  const controls = useRef<Controls>({ direction: 0, target: null });

  const start = useCallback(() => {
    Object.assign(controls.current, { direction: 0, target: null });
    setVoyage(newVoyage(Date.now()));
    setPhase('playing');
  }, []);
  const pause = useCallback(() => setPhase((now) => (now === 'playing' ? 'paused' : now)), []);
  const resume = useCallback(() => setPhase((now) => (now === 'paused' ? 'playing' : now)), []);
  const move = useCallback((direction: number) => {
    setVoyage((now) => {
      let after = now;
      for (let count = 0; count < MOVE_STEPS; count++) after = step(after, MOVE_STEP_SECONDS, direction);
      return after;
    });
  }, []);

  useEffect(() => {
    if (phase !== 'playing' || reducedMotion) return;
    let before = performance.now();
    let frame = requestAnimationFrame(function tick(now) {
      const seconds = (now - before) / 1000;
      before = now;
      setVoyage((voyage) => {
        const { direction, target } = controls.current;
        return step(voyage, seconds, target === null ? direction : steeringTowards(voyage.y, target));
      });
      frame = requestAnimationFrame(tick);
    });
    return () => cancelAnimationFrame(frame);
  }, [phase, reducedMotion]);

  useEffect(() => {
    if (!voyage.over) return;
    setPhase('over');
    setBest((known) => storeBest(Math.max(known, voyage.passed)));
  }, [voyage.over, voyage.passed]);

  useEffect(() => {
    const hide = () => document.hidden && pause();
    document.addEventListener('visibilitychange', hide);
    return () => document.removeEventListener('visibilitychange', hide);
  }, [pause]);

  return { voyage, phase, best, controls: controls.current, start, pause, resume, move };
}

function storedBest(): number {
  try {
    return Number(localStorage.getItem(BEST)) || 0;
  } catch {
    return 0;
  }
}

function storeBest(best: number): number {
  try {
    localStorage.setItem(BEST, String(best));
  } catch {
    // Storage is not available: the best score lasts until the page is closed.
  }
  return best;
}
