import { count } from '../text/format';

/** How many entries of a list are left out; nothing if there are none. */
export function More({ number }: { number: number }) {
  if (!(number > 0)) return null;
  return <p className="text-xs text-muted">… and {count(number)} more</p>;
}
