import { count } from '@/ui/text/format';
import { MAX_COUNT, usePendingCount } from './queries';

/** Badge with the number of pending reviews. */
export function ReviewCount() {
  const { data: pending = 0 } = usePendingCount();
  const shown = pending < MAX_COUNT ? count(pending) : `${MAX_COUNT - 1}+`;
  return (
    <>
      {pending > 0 && (
        <span className="absolute top-1 left-1/2 ml-1 min-w-4.5 rounded-full bg-accent px-1 text-center text-[0.68rem] leading-4.5 font-semibold text-accent-ink">
          {shown}
          <span className="sr-only"> pending</span>
        </span>
      )}
      {/* Separate from the badge: a live region is not used for the accessible name of the link. */}
      <span role="status" className="sr-only">
        {pending > 0 && `Pending reviews: ${shown}`}
      </span>
    </>
  );
}
