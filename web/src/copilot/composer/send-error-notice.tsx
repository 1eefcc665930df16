import { CircleAlert, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { IconButton } from '@/ui/buttons/button';
import type { SendError } from './send-error';

/** Shows why the message is back in the field, and when to try again. */
export function SendErrorNotice({ sendError, onClose }: { sendError: SendError; onClose: () => void }) {
  const seconds = useSecondsUntil(sendError.retryAt);
  return (
    <div className="flex items-start gap-2 rounded-xl border border-bad/30 bg-bad-soft py-1 pr-1 pl-3 text-sm">
      <CircleAlert aria-hidden className="mt-2.5 size-4 shrink-0 text-bad" />
      <p className="min-w-0 flex-1 py-2 break-words">
        <span role="alert">{sendError.message}</span>
        {/* Outside the alert: screen readers shouldn't announce the countdown every second. */}
        {sendError.retryAt && (
          <span className="text-muted">
            {' '}
            {seconds > 0 ? `Try again in ${seconds} s.` : 'You can try again now.'}
          </span>
        )}
      </p>
      <IconButton label="Dismiss" onClick={onClose}>
        <X className="size-4" />
      </IconButton>
    </div>
  );
}

function useSecondsUntil(time: number | null): number {
  const [now, setNow] = useState(Date.now);
  const left = time ? Math.max(0, Math.ceil((time - now) / 1000)) : 0;
  useEffect(() => {
    if (left === 0) return;
    const timer = setTimeout(() => setNow(Date.now()), 1000);
    return () => clearTimeout(timer);
  }, [left]);
  return left;
}
