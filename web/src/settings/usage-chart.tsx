import { type PointerEvent, useState } from 'react';
import type { UsageDay } from '@/protocol';
import { classes } from '@/ui/classes';
import { Fold } from '@/ui/page/fold';
import { count, dollars } from '@/ui/text/format';

type Measure = {
  name: string;
  of: (day: UsageDay) => number;
  write: (value: number) => string;
  /** Unit after the number, in the singular. */
  unit?: string;
};

const MEASURES: Measure[] = [
  { name: 'Responses', of: (day) => day.turns, write: count, unit: 'response' },
  { name: 'Tokens', of: (day) => day.prompt_tokens + day.completion_tokens, write: count, unit: 'token' },
  { name: 'Cost', of: (day) => day.cost_microdollars ?? 0, write: dollars },
];

// Units of the view box; the image is stretched to the available width.
const DAY = 10;
const GAP = 2.5;
const HEIGHT = 100;

// The server counts days in UTC.
const dayFormat = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const dayText = (day: UsageDay) => dayFormat.format(new Date(`${day.date}T00:00:00Z`));

function withUnit({ write, unit }: Measure, value: number): string {
  return unit ? `${write(value)} ${value === 1 ? unit : `${unit}s`}` : write(value);
}

/** Bar chart of the last days, and the same numbers as a table. */
export function UsageChart({ days }: { days: UsageDay[] }) {
  const shown = MEASURES.filter(
    (measure) => measure.name !== 'Cost' || days.some((day) => measure.of(day) > 0),
  );
  const [chosen, setChosen] = useState('Responses');
  const [hovered, setHovered] = useState<number | null>(null);
  const measure = shown.find(({ name }) => name === chosen) ?? shown[0];
  const [first, last] = [days[0], days.at(-1)];
  if (!measure || !first || !last) return null;

  const max = Math.max(...days.map(measure.of));
  const sum = days.reduce((total, day) => total + measure.of(day), 0);
  const day = hovered === null ? undefined : days[hovered];

  function hover(event: PointerEvent<SVGSVGElement>) {
    const box = event.currentTarget.getBoundingClientRect();
    const index = Math.floor(((event.clientX - box.left) / box.width) * days.length);
    setHovered(Math.min(Math.max(index, 0), days.length - 1));
  }

  return (
    <figure className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <figcaption className="text-sm">
          <span className="font-medium">{day ? dayText(day) : `Last ${days.length} days`}</span>
          <span className="ml-2 text-muted tabular-nums">
            {withUnit(measure, day ? measure.of(day) : sum)}
          </span>
        </figcaption>
        <MeasureChoice names={shown.map(({ name }) => name)} chosen={measure.name} onChoose={setChosen} />
      </div>
      <div className="relative">
        <svg
          role="img"
          aria-label={`${measure.name} in the last ${days.length} days: ${measure.write(sum)} in total, up to ${measure.write(max)} per day`}
          viewBox={`0 0 ${days.length * DAY} ${HEIGHT}`}
          preserveAspectRatio="none"
          className="h-36 w-full border-b border-line"
          onPointerMove={hover}
          onPointerDown={hover}
          onPointerLeave={() => setHovered(null)}
        >
          {days.map((one, index) => {
            const height = max > 0 ? (measure.of(one) / max) * HEIGHT : 0;
            return (
              <rect
                key={one.date}
                x={index * DAY + GAP / 2}
                y={HEIGHT - height}
                width={DAY - GAP}
                height={height}
                className={classes('fill-accent', hovered !== null && hovered !== index && 'opacity-40')}
              />
            );
          })}
        </svg>
        {max > 0 ? (
          <span aria-hidden className="absolute top-0 left-0 rounded bg-surface/80 px-1 text-xs text-muted">
            {measure.write(max)}
          </span>
        ) : (
          <p className="absolute inset-0 grid place-items-center text-sm text-muted">
            No usage in this period.
          </p>
        )}
      </div>
      <div aria-hidden className="flex justify-between text-xs text-muted">
        <span>{dayText(first)}</span>
        <span>{dayText(last)}</span>
      </div>
      <Fold title="View as table">
        <NumbersTable days={days} measures={shown} />
      </Fold>
    </figure>
  );
}

type ChoiceProps = { names: string[]; chosen: string; onChoose: (name: string) => void };

function MeasureChoice({ names, chosen, onChoose }: ChoiceProps) {
  return (
    <fieldset className="flex rounded-lg bg-sunken p-0.5 text-sm">
      <legend className="sr-only">Metric</legend>
      {names.map((name) => (
        <label
          key={name}
          className="flex min-h-8 cursor-pointer items-center rounded-md px-3 text-muted has-checked:bg-raised has-checked:text-ink has-checked:shadow-sm has-focus-visible:outline-2 has-focus-visible:outline-accent pointer-coarse:min-h-10"
        >
          <input
            type="radio"
            name="measure"
            className="sr-only"
            checked={chosen === name}
            onChange={() => onChoose(name)}
          />
          {name}
        </label>
      ))}
    </fieldset>
  );
}

/** The numbers by day, latest first. */
function NumbersTable({ days, measures }: { days: UsageDay[]; measures: Measure[] }) {
  return (
    <table className="w-full max-w-md text-sm">
      <thead className="text-xs text-muted">
        <tr>
          <th className="py-1 text-left font-medium">Date</th>
          {measures.map(({ name }) => (
            <th key={name} className="py-1 text-right font-medium">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody className="divide-y divide-line">
        {days.toReversed().map((day) => (
          <tr key={day.date}>
            <th scope="row" className="py-1 text-left font-normal">
              {dayText(day)}
            </th>
            {measures.map(({ name, of, write }) => (
              <td key={name} className="py-1 text-right tabular-nums">
                {write(of(day))}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
