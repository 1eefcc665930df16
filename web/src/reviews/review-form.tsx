import { Check, Pencil, RotateCcw, X } from 'lucide-react';
import { useState } from 'react';
import type { Review } from '@/protocol';
import { Button } from '@/ui/buttons/button';
import { Field, Input } from '@/ui/form/field';
import { canAutoApprove, type Draft, errorsOf, isEdited } from './draft';
import { Payload, PayloadEditor } from './payload';

type Props = {
  review: Review;
  draft: Draft;
  onDraft: (draft: Draft) => void;
  /** The decision being sent. */
  sending: 'approve' | 'reject' | 'other' | null;
  onDecide: (approved: boolean) => void;
};

const MAX_COMMENT_CHARS = 2000;

/** Form of a pending review: its content, a comment, and the approve and reject buttons. */
export function ReviewForm({ review, draft, onDraft, sending, onDecide }: Props) {
  const edited = isEdited(review, draft);
  const [editing, setEditing] = useState(edited);
  const hasErrors = errorsOf(review, draft).size > 0;
  const busy = sending !== null;
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!hasErrors && !busy) onDecide(true);
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
              {edited ? 'Discard changes' : 'Cancel'}
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
      <Field label="Comment (optional)">
        {(control) => (
          <Input
            {...control}
            value={draft.message}
            maxLength={MAX_COMMENT_CHARS}
            onChange={(event) => onDraft({ ...draft, message: event.target.value })}
          />
        )}
      </Field>
      {canAutoApprove(review) && (
        <label className="flex items-start gap-2.5 text-sm has-disabled:text-muted">
          <input
            type="checkbox"
            checked={draft.autoApprove && !edited}
            disabled={edited}
            onChange={(event) => onDraft({ ...draft, autoApprove: event.target.checked })}
            className="mt-0.5 size-4 shrink-0 accent-accent"
          />
          <span>
            Auto-approve this block for the rest of the run
            {edited && <span className="block text-xs text-muted">Not available together with changes.</span>}
          </span>
        </label>
      )}
      <div className="flex flex-wrap gap-2">
        <Button
          type="submit"
          kind="primary"
          busy={sending === 'approve'}
          disabled={busy || hasErrors}
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
