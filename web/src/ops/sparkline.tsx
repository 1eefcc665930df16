import { MOST_KEPT } from './overview';

// Units of the drawing; it is stretched to the room there is.
const WIDTH = 100;
const HEIGHT = 24;
const STEP = WIDTH / (MOST_KEPT - 1);

/** The last values as a line. It only repeats what stands beside it, so it is not read out. */
export function Sparkline({ values }: { values: (number | null)[] }) {
  const most = Math.max(1, ...values.filter((value) => value !== null));
  const points = values.flatMap((value, place) => {
    if (value === null) return [];
    // The newest is at the right edge, and the others move away from it at an even pace.
    const x = WIDTH - (values.length - 1 - place) * STEP;
    // A pixel of room, so that the line is whole at both ends.
    const y = HEIGHT - 1 - (value / most) * (HEIGHT - 2);
    return `${x.toFixed(2)},${y.toFixed(2)}`;
  });
  if (points.length < 2) return <div aria-hidden className="h-8" />;
  return (
    <svg
      aria-hidden="true"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      className="h-8 w-full text-accent"
    >
      <polygon
        points={`${points[0]?.split(',')[0]},${HEIGHT} ${points.join(' ')} ${WIDTH},${HEIGHT}`}
        className="fill-accent-soft"
      />
      <polyline
        points={points.join(' ')}
        fill="none"
        stroke="currentColor"
        strokeWidth={1.5}
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  );
}
