import { useState } from 'react';
import { classes } from '@/ui/classes';

/** Longer messages are collapsed, so that a pasted file doesn't push the response off the screen. */
const LONG = 1_200;
const MANY_LINES = 16;

/** A message from the user. */
export function UserMessage({ text, label = 'You' }: { text: string; label?: string }) {
  const isLong = text.length > LONG || text.split('\n', MANY_LINES + 1).length > MANY_LINES;
  const [open, setOpen] = useState(false);
  const folded = isLong && !open;
  return (
    <div className="flex flex-col items-end">
      <div className="max-w-[88%] rounded-2xl rounded-br-md bg-accent-soft px-4 py-2.5 sm:max-w-[80%]">
        <span className="sr-only">{label}: </span>
        <div
          className={classes(
            'break-words whitespace-pre-wrap [overflow-wrap:anywhere]',
            folded && 'max-h-60 overflow-hidden [mask-image:linear-gradient(black_70%,transparent)]',
          )}
        >
          {text}
        </div>
        {isLong && (
          <button
            type="button"
            aria-expanded={open}
            onClick={() => setOpen(!open)}
            className="mt-1 min-h-10 rounded text-sm font-medium text-accent hover:underline sm:min-h-0"
          >
            {open ? 'Show less' : 'Show all'}
          </button>
        )}
      </div>
    </div>
  );
}
