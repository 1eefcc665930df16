import { useCallback, useEffect, useRef, useState } from 'react';
import { helmTowards, newVoyage, step, type Voyage } from './voyage';

const BEST = 'voyage.best';
/** Without motion, time passes only when somebody moves: a stroke at a time. */
const STROKE_STEPS = 5;
const STROKE_SECONDS = 0.09;

export type Phase = 'ready' | 'sailing' | 'paused' | 'over';

/** What the hands are doing: keys give a direction, a finger or a mouse a place to sail to. */
type Hands = { direction: number; target: number | null };

/** A voyage that can be sailed. It stands still unless somebody looks at it and it is under way. */
export function useVoyage(still: boolean) {
  const [voyage, setVoyage] = useState<Voyage>(() => newVoyage(Date.now()));
  const [phase, setPhase] = useState<Phase>('ready');
  const [best, setBest] = useState(storedBest);
  const hands = useRef<Hands>({ direction: 0, target: null });

  const start = useCallback(() => {
    Object.assign(hands.current, { direction: 0, target: null });
    setVoyage(newVoyage(Date.now()));
    setPhase('sailing');
  }, []);
  const pause = useCallback(() => setPhase((now) => (now === 'sailing' ? 'paused' : now)), []);
  const resume = useCallback(() => setPhase((now) => (now === 'paused' ? 'sailing' : now)), []);
  const stroke = useCallback((direction: number) => {
    setVoyage((now) => {
      let after = now;
      for (let count = 0; count < STROKE_STEPS; count++) after = step(after, STROKE_SECONDS, direction);
      return after;
    });
  }, []);

  useEffect(() => {
    if (phase !== 'sailing' || still) return;
    let before = performance.now();
    let frame = requestAnimationFrame(function sail(now) {
      const seconds = (now - before) / 1000;
      before = now;
      setVoyage((voyage) => {
        const { direction, target } = hands.current;
        return step(voyage, seconds, target === null ? direction : helmTowards(voyage.y, target));
      });
      frame = requestAnimationFrame(sail);
    });
    return () => cancelAnimationFrame(frame);
  }, [phase, still]);

  useEffect(() => {
    if (!voyage.over) return;
    setPhase('over');
    setBest((known) => keepBest(Math.max(known, voyage.passed)));
  }, [voyage.over, voyage.passed]);

  useEffect(() => {
    const hide = () => document.hidden && pause();
    document.addEventListener('visibilitychange', hide);
    return () => document.removeEventListener('visibilitychange', hide);
  }, [pause]);

  return { voyage, phase, best, hands: hands.current, start, pause, resume, stroke };
}

function storedBest(): number {
  try {
    return Number(localStorage.getItem(BEST)) || 0;
  } catch {
    return 0;
  }
}

function keepBest(best: number): number {
  try {
    localStorage.setItem(BEST, String(best));
  } catch {
    // Where nothing may be stored, the best is only known until the page is closed.
  }
  return best;
}
