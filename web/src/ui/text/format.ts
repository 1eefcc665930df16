// Formats times and numbers for display.

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const integer = new Intl.NumberFormat();

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['second', 60],
  ['minute', 60],
  ['hour', 24],
  ['day', 7],
  ['week', 4.35],
  ['month', 12],
  ['year', Number.POSITIVE_INFINITY],
];

/** "2 minutes ago". */
export function ago(time: string, now = Date.now()): string {
  let amount = (Date.parse(time) - now) / 1000;
  for (const [unit, size] of STEPS) {
    if (Math.abs(amount) < size) return relative.format(Math.round(amount), unit);
    amount /= size;
  }
  return when(time);
}

/** "Nov 16, 2026, 11:40". */
export function when(time: string): string {
  return dateTime.format(new Date(time));
}

export function count(value: number): string {
  return integer.format(value);
}

/** "1 step", "3 steps". */
export function amount(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? '' : 's'}`;
}

/** "< 0.1 s", "0.4 s", "12 s", "3 min 5 s", "1 h 2 min". */
export function duration(ms: number): string {
  if (ms < 100) return '< 0.1 s';
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  // Rounded first, so that the seconds never show as 60.
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function bytes(size: number): string {
  const units = ['B', 'kB', 'MB', 'GB'];
  let value = size;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

/** Takes millionths of a dollar. */
export function dollars(micro: number): string {
  const value = micro / 1_000_000;
  return `$${value < 0.01 && value > 0 ? value.toFixed(4) : value.toFixed(2)}`;
}
