// Rules of the game: a boat moves forward and is steered through gates of two buoys. No clock and no rendering;
// randomness comes only from the seed, so the same steering always gives the same game.

export const WIDTH = 100;
export const HEIGHT = 40;
/** Fixed position of the boat; the gates move towards it. */
export const BOAT_X = 16;
/** Half the width of the boat. */
const BOAT_HALF = 1.6;
const MARGIN = 3;

const FIRST_GATE_X = 74;
const GATE_SPACING = 36;
const WIDEST_GAP = 17;
const NARROWEST_GAP = 9.5;
const SLOWEST = 15;
const FASTEST = 34;
/** Vertical units per second. */
const STEERING_SPEED = 26;
/** Maximum vertical offset between two gates, so that the next one can be reached. */
const MAX_OFFSET = 12;
/** Limit of one step in seconds: a page that was in the background must not skip ahead. */
const LONGEST_STEP = 0.1;

export type Gate = { x: number; middle: number; gap: number };

export type Voyage = {
  y: number;
  /** Steering of the last step, which tilts the boat. */
  steering: number;
  /** Distance so far. */
  sailed: number;
  gates: Gate[];
  passed: number;
  /** The boat has hit a buoy or missed a gate. */
  over: boolean;
  seed: number;
};

export function newVoyage(seed: number): Voyage {
  const start: Voyage = {
    y: HEIGHT / 2,
    steering: 0,
    sailed: 0,
    gates: [],
    passed: 0,
    over: false,
    seed: seed >>> 0,
  };
  return withGates(start);
}

/** The state `seconds` later, steering from -1 (up) to 1 (down). */
export function step(voyage: Voyage, seconds: number, steering: number): Voyage {
  if (voyage.over || !(seconds > 0)) return voyage;
  const time = Math.min(seconds, LONGEST_STEP);
  const applied = clamp(steering, -1, 1);
  const distance = speedAfter(voyage.passed) * time;
  const y = clamp(voyage.y + applied * STEERING_SPEED * time, MARGIN, HEIGHT - MARGIN);
  const moved = voyage.gates.map((gate) => ({ ...gate, x: gate.x - distance }));
  const reached = moved.filter((gate, index) => gate.x <= BOAT_X && (voyage.gates[index]?.x ?? 0) > BOAT_X);
  const over = reached.some((gate) => !fits(y, gate));
  return withGates({
    ...voyage,
    y,
    steering: applied,
    sailed: voyage.sailed + distance,
    gates: moved.filter((gate) => gate.x > -4),
    passed: voyage.passed + (over ? 0 : reached.length),
    over,
  });
}

/** Steering that moves the boat towards a vertical position. */
export function steeringTowards(y: number, target: number): number {
  return clamp((target - y) / 3, -1, 1);
}

export function speedAfter(passed: number): number {
  return Math.min(SLOWEST + passed * 0.8, FASTEST);
}

function fits(y: number, { middle, gap }: Gate): boolean {
  return Math.abs(y - middle) <= gap / 2 - BOAT_HALF;
}

/** Adds gates, so that the visible area always has one. */
function withGates(voyage: Voyage): Voyage {
  let { seed } = voyage;
  const gates = [...voyage.gates];
  let made = voyage.passed + gates.length;
  for (;;) {
    const last = gates.at(-1);
    const x = last ? last.x + GATE_SPACING : FIRST_GATE_X;
    if (x > WIDTH + GATE_SPACING) return { ...voyage, gates, seed };
    seed = next(seed);
    const gap = Math.max(WIDEST_GAP - made * 0.35, NARROWEST_GAP);
    const offset = (seed / 2 ** 32 - 0.5) * 2 * MAX_OFFSET;
    const edge = gap / 2 + 1;
    gates.push({ x, gap, middle: clamp((last?.middle ?? HEIGHT / 2) + offset, edge, HEIGHT - edge) });
    made++;
  }
}

/** Linear congruential generator; not for security. */
function next(seed: number): number {
  return (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
