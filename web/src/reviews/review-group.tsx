import { CheckCheck } from 'lucide-react';
import { useRef, useState } from 'react';
import type { Review } from '@/protocol';
import { Button } from '@/ui/buttons/button';
import { Failure } from '@/ui/page/states';
import { ago, when } from '@/ui/text/format';
import { DecidedReview } from './decided-review';
import { type Draft, decisionOf, EMPTY_DRAFT, errorsOf } from './draft';
import { isWaiting, useDecide, wasAlreadyDecided } from './queries';
import { ReviewForm } from './review-form';

type Props = {
  /** Reviews of one run. */
  reviews: Review[];
  onDecided?: (approved: boolean) => void;
};

/** The reviews of one run. Drafts are kept while the list is fetched again. */
export function ReviewGroup({ reviews, onDecided }: Props) {
  const [drafts, setDrafts] = useState<Record<string, Draft>>({});
  const decide = useDecide();
  const group = useRef<HTMLDivElement>(null);

  const draftOf = (review: Review) => drafts[review.node_exec_id] ?? EMPTY_DRAFT;
  const waiting = reviews.filter(isWaiting);
  const hasErrors = waiting.some((review) => errorsOf(review, draftOf(review)).size > 0);

  async function send(decided: Review[], approved: boolean) {
    const decisions = decided.map((review) => decisionOf(review, draftOf(review), approved));
    try {
      // Awaited, since callbacks of `mutate` are not called once this group is unmounted with its last review.
      await decide.mutateAsync(decisions);
    } catch {
      return; // The error is shown below.
    }
    // The clicked button is unmounted; without this the focus would move to the top of the page.
    group.current?.focus();
    onDecided?.(approved);
  }

  function sendingOf(review: Review) {
    if (!decide.isPending) return null;
    const sent = decide.variables;
    if (sent.length > 1 || sent[0]?.node_exec_id !== review.node_exec_id) return 'other';
    return sent[0].approved ? 'approve' : 'reject';
  }

  return (
    <div ref={group} tabIndex={-1} className="flex flex-col gap-4 outline-none">
      {reviews.map((review) => (
        // biome-ignore lint/a11y/useSemanticElements: a section would be a landmark, and several may have the same label.
        <div
          key={review.node_exec_id}
          role="group"
          aria-label={review.instructions || 'Review'}
          className="flex min-w-0 flex-col gap-3 border-line not-first:border-t not-first:pt-4"
        >
          <header className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1">
            <p className="min-w-0 font-medium break-words">
              {review.instructions || 'Approve or reject this request.'}
            </p>
            <time className="text-xs text-muted" dateTime={review.created_at} title={when(review.created_at)}>
              Requested {ago(review.created_at)}
            </time>
          </header>
          {isWaiting(review) ? (
            <ReviewForm
              review={review}
              draft={draftOf(review)}
              onDraft={(draft) => setDrafts((all) => ({ ...all, [review.node_exec_id]: draft }))}
              sending={sendingOf(review)}
              onDecide={(approved) => send([review], approved)}
            />
          ) : (
            <DecidedReview review={review} />
          )}
        </div>
      ))}
      {decide.isError && !wasAlreadyDecided(decide.error) && (
        <Failure title="Your decision wasn't saved. Your changes are still here." error={decide.error} />
      )}
      {waiting.length > 1 && (
        <div className="border-t border-line pt-4">
          <Button
            busy={decide.isPending && decide.variables.length > 1}
            disabled={decide.isPending || hasErrors}
            icon={<CheckCheck aria-hidden className="size-4" />}
            onClick={() => send(waiting, true)}
          >
            Approve all {waiting.length}
          </Button>
        </div>
      )}
    </div>
  );
}
