// Estimated progress of an operation of unknown duration: the remaining part halves with every half-life.

const HALF_LIFE_MS = 30_000;
/** Upper bound: only the result completes the progress. */
const MAX_PROGRESS = 0.99;

/** A value from 0 to `MAX_PROGRESS`. */
export function progressAfter(elapsedMs: number): number {
  if (!(elapsedMs > 0)) return 0;
  return Math.min(1 - 2 ** (-elapsedMs / HALF_LIFE_MS), MAX_PROGRESS);
}
