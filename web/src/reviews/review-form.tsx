import { Check, Pencil, RotateCcw, X } from 'lucide-react';
import { useState } from 'react';
import type { Review } from '@/protocol';
import { Button } from '@/ui/button';
import { Field, Input } from '@/ui/field';
import { canHoldForTheRest, type Draft, faultsOf, isEdited } from './draft';
import { Payload, PayloadEditor } from './payload';

type Props = {
  review: Review;
  draft: Draft;
  onDraft: (draft: Draft) => void;
  /** Which answer is on its way. */
  sending: 'approve' | 'reject' | 'other' | null;
  onDecide: (approved: boolean) => void;
};

const MOST_MESSAGE_CHARS = 2000;

/** One thing that waits for a decision: what it is, what may be changed, and the two answers. */
export function ReviewForm({ review, draft, onDraft, sending, onDecide }: Props) {
  const edited = isEdited(review, draft);
  const [editing, setEditing] = useState(edited);
  const faulty = faultsOf(review, draft).size > 0;
  const busy = sending !== null;
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!faulty && !busy) onDecide(true);
      }}
    >
      {editing ? (
        <PayloadEditor review={review} draft={draft} onChange={(changes) => onDraft({ ...draft, changes })} />
      ) : (
        <Payload payload={review.payload} />
      )}
      {review.editable && (
        <div>
          {editing ? (
            <Button
              size="small"
              kind="quiet"
              icon={<RotateCcw aria-hidden className="size-4" />}
              onClick={() => {
                onDraft({ ...draft, changes: {} });
                setEditing(false);
              }}
            >
              {edited ? 'Undo the changes' : 'Leave it as it is'}
            </Button>
          ) : (
            <Button
              size="small"
              icon={<Pencil aria-hidden className="size-4" />}
              onClick={() => setEditing(true)}
            >
              Edit
            </Button>
          )}
        </div>
      )}
      <Field label="Remark (optional)">
        {(control) => (
          <Input
            {...control}
            value={draft.message}
            maxLength={MOST_MESSAGE_CHARS}
            onChange={(event) => onDraft({ ...draft, message: event.target.value })}
          />
        )}
      </Field>
      {canHoldForTheRest(review) && (
        <label className="flex items-start gap-2.5 text-sm has-disabled:text-muted">
          <input
            type="checkbox"
            checked={draft.forTheRest && !edited}
            disabled={edited}
            onChange={(event) => onDraft({ ...draft, forTheRest: event.target.checked })}
            className="mt-0.5 size-4 shrink-0 accent-accent"
          />
          <span>
            Approve the rest of this run
            <span className="block text-xs text-muted">
              {edited
                ? 'Not together with changes: what comes later is not known yet.'
                : 'When the same block asks again in this run, it goes on without you.'}
            </span>
          </span>
        </label>
      )}
      <div className="flex flex-wrap gap-2">
        <Button
          type="submit"
          kind="primary"
          busy={sending === 'approve'}
          disabled={busy || faulty}
          className="flex-1 sm:flex-none"
          icon={<Check aria-hidden className="size-4" />}
        >
          {edited ? 'Approve with changes' : 'Approve'}
        </Button>
        <Button
          kind="danger"
          busy={sending === 'reject'}
          disabled={busy}
          className="flex-1 sm:flex-none"
          icon={<X aria-hidden className="size-4" />}
          onClick={() => onDecide(false)}
        >
          Reject
        </Button>
      </div>
    </form>
  );
}
