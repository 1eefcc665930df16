import { count } from '@/ui/format';
import { MOST_COUNTED, usePendingCount } from './queries';

/** How many decisions wait for this person, as a small number. */
export function ReviewCount() {
  const { data: pending = 0 } = usePendingCount();
  const shown = pending < MOST_COUNTED ? count(pending) : `${MOST_COUNTED - 1}+`;
  return (
    <>
      {pending > 0 && (
        <span className="absolute top-1 left-1/2 ml-1 min-w-4.5 rounded-full bg-accent px-1 text-center text-[0.68rem] leading-4.5 font-semibold text-accent-ink">
          {shown}
          <span className="sr-only"> waiting for your decision</span>
        </span>
      )}
      {/* By itself, because a name is not taken from what is read out when it changes. */}
      <span role="status" className="sr-only">
        {pending > 0 && `Reviews that wait for you: ${shown}`}
      </span>
    </>
  );
}
