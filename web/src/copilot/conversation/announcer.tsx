import { useEffect, useRef, useState } from 'react';
import type { SessionHandle } from '@/session/types';
import { textOf } from './response-sections';

const MAX_ANNOUNCED = 2_000;

const DISCONNECTED = 'Connection lost. Reconnecting…';
const SLOW = 'Still waiting for a response.';

/**
 * Announces status changes to screen readers. The live region is always mounted, because content that is added
 * together with its region is often not announced. A response is announced once it is complete, not token by token.
 */
export function Announcer({ handle }: { handle: SessionHandle }) {
  const [announcement, setAnnouncement] = useState('');
  const wasBusy = useRef(handle.busy);
  const { busy, messages, error, phase, slow } = handle;
  useEffect(() => {
    if (wasBusy.current && !busy) {
      const last = messages.at(-1);
      const text = last?.role === 'assistant' ? textOf(last) : '';
      setAnnouncement(
        error
          ? `Something went wrong. ${error.message}`
          : text.slice(0, MAX_ANNOUNCED) || 'Response complete.',
      );
    } else if (busy) setAnnouncement('');
    wasBusy.current = busy;
  }, [busy, messages, error]);
  return (
    <div role="status" className="sr-only">
      {phase === 'reconnecting' ? DISCONNECTED : slow ? SLOW : announcement}
    </div>
  );
}
