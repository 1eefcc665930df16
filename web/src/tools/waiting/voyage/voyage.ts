// The rules of the game: a boat sails by itself and is steered through gates of two buoys. No clock, no screen, and
// chance only from the seed, so that the same hand always makes the same voyage.

export const WIDTH = 100;
export const HEIGHT = 40;
/** Where the boat is; the water comes towards it. */
export const BOAT_X = 16;
/** From the middle of the boat to its side. */
const BOAT_HALF = 1.6;
const MARGIN = 3;

const FIRST_GATE_X = 74;
const GATE_SPACING = 36;
const WIDEST_GAP = 17;
const NARROWEST_GAP = 9.5;
const SLOWEST = 15;
const FASTEST = 34;
/** Across the water, per second. */
const STEERING_SPEED = 26;
/** How far the next gate is off the one before: always within reach. */
const LARGEST_TURN = 12;
/** A page that was asleep must not wake up on the rocks. */
const LONGEST_STEP = 0.1;

export type Gate = { x: number; middle: number; gap: number };

export type Voyage = {
  y: number;
  /** Of the last step: what the boat leans by. */
  steering: number;
  /** How far it has sailed. */
  sailed: number;
  gates: Gate[];
  passed: number;
  /** It has touched a buoy, or missed a gate. */
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

/** The voyage `seconds` later, with the helm at `steering`: -1 is up, 1 is down. */
export function step(voyage: Voyage, seconds: number, steering: number): Voyage {
  if (voyage.over || !(seconds > 0)) return voyage;
  const time = Math.min(seconds, LONGEST_STEP);
  const helm = clamp(steering, -1, 1);
  const way = speedAfter(voyage.passed) * time;
  const y = clamp(voyage.y + helm * STEERING_SPEED * time, MARGIN, HEIGHT - MARGIN);
  const moved = voyage.gates.map((gate) => ({ ...gate, x: gate.x - way }));
  const reached = moved.filter((gate, place) => gate.x <= BOAT_X && (voyage.gates[place]?.x ?? 0) > BOAT_X);
  const over = reached.some((gate) => !fits(y, gate));
  return withGates({
    ...voyage,
    y,
    steering: helm,
    sailed: voyage.sailed + way,
    gates: moved.filter((gate) => gate.x > -4),
    passed: voyage.passed + (over ? 0 : reached.length),
    over,
  });
}

/** The helm that brings the boat to where a finger points. */
export function helmTowards(y: number, target: number): number {
  return clamp((target - y) / 3, -1, 1);
}

export function speedAfter(passed: number): number {
  return Math.min(SLOWEST + passed * 0.8, FASTEST);
}

function fits(y: number, { middle, gap }: Gate): boolean {
  return Math.abs(y - middle) <= gap / 2 - BOAT_HALF;
}

/** There is always a gate to be seen. */
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
    const turn = (seed / 2 ** 32 - 0.5) * 2 * LARGEST_TURN;
    const edge = gap / 2 + 1;
    gates.push({ x, gap, middle: clamp((last?.middle ?? HEIGHT / 2) + turn, edge, HEIGHT - edge) });
    made++;
  }
}

/** A plain linear congruential generator: nobody's secret depends on it. */
function next(seed: number): number {
  return (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
