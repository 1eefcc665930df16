import { Failure, Loading } from '@/ui/page/states';
import { useReviewsOf } from './queries';
import { ReviewGroup } from './review-group';

type Props = {
  /** Execution id, or `copilot-session-<session>` for a block run by the copilot. */
  executionId: string;
  /** Shows only this review; otherwise all reviews of the run. */
  reviewId?: string;
  onDecided?: (approved: boolean) => void;
};

/** Reviews of a run with approve, reject and edit. Used by the review card and the agent page. */
export function ReviewOfExecution({ executionId, reviewId, onDecided }: Props) {
  const reviews = useReviewsOf(executionId, reviewId);
  if (reviews.isPending) return <Loading label="Loading review" rows={1} />;
  if (reviews.isError && !reviews.data)
    return (
      <Failure title="Couldn't load the review" error={reviews.error} onRetry={() => reviews.refetch()} />
    );
  if (reviews.data.length === 0) return <p className="text-sm text-muted">No pending reviews.</p>;
  return <ReviewGroup reviews={reviews.data} onDecided={onDecided} />;
}
