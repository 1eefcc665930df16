import { BOAT_X, type Gate, HEIGHT, type Voyage, WIDTH } from './voyage';

/** Draws the game. Port and starboard buoys differ in shape, not only in color. */
export function VoyageScene({ voyage }: { voyage: Voyage }) {
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true" className="block h-auto w-full">
      <rect width={WIDTH} height={HEIGHT} className="fill-accent-soft" />
      <Waves sailed={voyage.sailed} />
      {voyage.gates.map((gate) => (
        <Buoys key={Math.round(gate.x + voyage.sailed)} gate={gate} />
      ))}
      <Boat y={voyage.y} lean={voyage.steering * 18} sunk={voyage.over} />
    </svg>
  );
}

const WAVES = [
  [6, 8],
  [30, 31],
  [47, 15],
  [63, 36],
  [78, 5],
  [91, 24],
  [20, 21],
] as const;

function Waves({ sailed }: { sailed: number }) {
  const around = WIDTH + 10;
  return (
    <g className="fill-none stroke-accent opacity-30" strokeWidth={0.5} strokeLinecap="round">
      {WAVES.map(([x, y]) => {
        const left = ((((x - sailed) % around) + around) % around) - 5;
        return <path key={`${x} ${y}`} d={`M${left} ${y}q1.5 -1.4 3 0t3 0`} />;
      })}
    </g>
  );
}

function Buoys({ gate: { x, middle, gap } }: { gate: Gate }) {
  const top = middle - gap / 2;
  const bottom = middle + gap / 2;
  return (
    <g>
      <line
        x1={x}
        x2={x}
        y1={top}
        y2={bottom}
        className="stroke-line-strong opacity-50"
        strokeWidth={0.3}
        strokeDasharray="1 1.4"
      />
      <rect x={x - 1.3} y={top - 2.4} width={2.6} height={2.6} rx={0.4} className="fill-bad" />
      <path d={`M${x} ${bottom - 0.4}l1.7 2.9h-3.4z`} className="fill-good" />
    </g>
  );
}

function Boat({ y, lean, sunk }: { y: number; lean: number; sunk: boolean }) {
  return (
    <g transform={`translate(${BOAT_X} ${y}) rotate(${lean})`} className={sunk ? 'opacity-40' : undefined}>
      <path d="M-4.4 0.7H4.6Q3.8 2.6 2.4 2.6H-2.8Q-4 2.6 -4.4 0.7z" className="fill-ink" />
      <path
        d="M-0.4 0.2V-5L-3.8 0.2z"
        className="fill-raised stroke-ink"
        strokeWidth={0.3}
        strokeLinejoin="round"
      />
      <path
        d="M0.3 0.2V-4.4L3.4 0.2z"
        className="fill-accent stroke-ink"
        strokeWidth={0.3}
        strokeLinejoin="round"
      />
    </g>
  );
}
