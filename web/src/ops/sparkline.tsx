import { MAX_SAMPLES } from './overview';

// Units of the view box; the image is stretched to the available width.
const WIDTH = 100;
const HEIGHT = 24;
const STEP = WIDTH / (MAX_SAMPLES - 1);

/** Line chart of the latest values. Hidden from screen readers, since the value is next to it. */
export function Sparkline({ values }: { values: (number | null)[] }) {
  const max = Math.max(1, ...values.filter((value) => value !== null));
  const points = values.flatMap((value, index) => {
    if (value === null) return [];
    // The latest value is at the right edge.
    const x = WIDTH - (values.length - 1 - index) * STEP;
    // One unit of margin, so that the line is not clipped.
    const y = HEIGHT - 1 - (value / max) * (HEIGHT - 2);
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
