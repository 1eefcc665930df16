import { Failure, Loading } from '@/ui/states';
import { useReviewsOf } from './queries';
import { ReviewGroup } from './review-group';

type Props = {
  /** A run, or `copilot-session-<session>` for a block that the copilot runs by itself. */
  executionId: string;
  /** Only this one; otherwise all that the run asks. */
  reviewId?: string;
  onDecided?: (approved: boolean) => void;
};

/** What a run asks a person, with approve, reject and edit. Used by the copilot's card and the agent's page. */
export function ReviewOfExecution({ executionId, reviewId, onDecided }: Props) {
  const reviews = useReviewsOf(executionId, reviewId);
  if (reviews.isPending) return <Loading label="Loading the review" rows={1} />;
  if (reviews.isError && !reviews.data)
    return (
      <Failure title="The review cannot be read." error={reviews.error} onRetry={() => reviews.refetch()} />
    );
  if (reviews.data.length === 0)
    return <p className="text-sm text-muted">Nothing waits for a decision here.</p>;
  return <ReviewGroup reviews={reviews.data} onDecided={onDecided} />;
}
