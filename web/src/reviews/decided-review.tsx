import type { Review } from '@/protocol';
import { Badge } from '@/ui/feedback/badge';
import { Fold } from '@/ui/page/fold';
import { ago, when } from '@/ui/text/format';
import { Payload } from './payload';

/** A decided review: decision, comment and content. */
export function DecidedReview({ review }: { review: Review }) {
  const approved = review.status === 'APPROVED';
  return (
    <div className="flex flex-col gap-2 text-sm">
      <p className="flex flex-wrap items-center gap-2 text-muted">
        <Badge tone={approved ? 'good' : 'bad'}>{approved ? 'Approved' : 'Rejected'}</Badge>
        {review.was_edited && <span>with changes</span>}
        {review.reviewed_at && <time title={when(review.reviewed_at)}>{ago(review.reviewed_at)}</time>}
      </p>
      {review.review_message && (
        <blockquote className="border-l-2 border-line pl-3 break-words whitespace-pre-wrap">
          {review.review_message}
        </blockquote>
      )}
      <Fold title={approved ? 'Approved content' : 'Rejected content'}>
        <Payload payload={review.payload} />
      </Fold>
    </div>
  );
}
