// How far something is of which nobody knows how long it takes: half of the rest is gone every half-life.

const HALF_LIFE_MS = 30_000;
/** The end is only ever reached by the result. */
const NEARLY = 0.99;

/** From 0 to almost 1. */
export function progressAfter(elapsedMs: number): number {
  if (!(elapsedMs > 0)) return 0;
  return Math.min(1 - 2 ** (-elapsedMs / HALF_LIFE_MS), NEARLY);
}
