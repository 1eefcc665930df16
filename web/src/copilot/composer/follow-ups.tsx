import { Check, Clock, CornerUpLeft, X } from 'lucide-react';
import type { FollowUpChip } from '@/session/types';
import { Button, IconButton } from '@/ui/buttons/button';
import { Spinner } from '@/ui/feedback/spinner';

const STATES = {
  sending: { label: 'Sending…', icon: <Spinner className="size-3.5" /> },
  waiting: { label: 'Queued', icon: <Clock aria-hidden className="size-3.5" /> },
  delivered: { label: 'Delivered', icon: <Check aria-hidden className="size-3.5 text-good" /> },
  returned: {
    label: 'Not delivered',
    icon: <CornerUpLeft aria-hidden className="size-3.5 text-warn" />,
  },
};

type Props = {
  chips: FollowUpChip[];
  onEdit: (chip: FollowUpChip) => void;
  onDrop: (id: string) => void;
};

/** The messages that were sent during the running turn, with their delivery state. */
export function FollowUps({ chips, onEdit, onDrop }: Props) {
  return (
    <ul
      aria-label="Follow-ups"
      aria-live="polite"
      className="flex max-h-40 flex-col gap-1 overflow-y-auto empty:-mb-2"
    >
      {chips.map((chip) => (
        <li
          key={chip.id}
          className="flex min-h-9 items-center gap-2 rounded-xl border border-line bg-surface py-1 pr-1.5 pl-3 text-sm"
        >
          {STATES[chip.state].icon}
          <span className="min-w-0 flex-1 truncate" title={chip.text}>
            {chip.text}
          </span>
          <span className="shrink-0 text-xs text-muted max-sm:sr-only">{STATES[chip.state].label}</span>
          {chip.state === 'returned' && (
            <>
              <Button kind="quiet" size="small" className="max-sm:h-10" onClick={() => onEdit(chip)}>
                Edit and resend
              </Button>
              <IconButton label="Dismiss" className="size-8 max-sm:size-10" onClick={() => onDrop(chip.id)}>
                <X aria-hidden className="size-4" />
              </IconButton>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}
