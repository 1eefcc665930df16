// Card of a block that needs the user's approval before it runs.

import { ReviewOfExecution } from '@/reviews/review-of-execution';
import { Button } from '@/ui/buttons/button';
import { blockName } from '@/ui/text/names';
import { useCardState } from '../card-state';
import { decidedMessage } from '../messages';
import type { CardKinds, CardProps } from '../types';
import { useCardSend } from '../use-card-send';
import { Buttons, SendOutcome } from './parts';

function ReviewCard({ response, part, current }: CardProps<'review_required'>) {
  const { block_name, review_id, graph_exec_id } = response;
  const send = useCardSend(part.toolCallId);
  const [decision, setDecision] = useCardState<boolean | null>(`${part.toolCallId} decision`, null);
  const sendDecision = (approved: boolean) =>
    void send.submit(decidedMessage(blockName(block_name), review_id, approved));
  return (
    <>
      <p className="break-words">
        <span className="font-medium">{blockName(block_name)}</span> makes an external request. Review it,
        then approve or reject.
      </p>
      <ReviewOfExecution
        executionId={graph_exec_id}
        reviewId={review_id}
        onDecided={(approved) => {
          setDecision(approved);
          sendDecision(approved);
        }}
      />
      {/* Decided, but not sent to the copilot. The error may be lost if the card was unmounted. */}
      {decision !== null && current && send.sent === null && !send.sending && (
        <Buttons>
          <Button kind="primary" onClick={() => sendDecision(decision)}>
            Continue
          </Button>
        </Buttons>
      )}
      <SendOutcome send={send} sent="Sent to the copilot." />
    </>
  );
}

export const reviews: CardKinds<'review_required'> = {
  review_required: {
    Card: ReviewCard,
    opens: true,
    status: (_, { current }) => (current ? 'waiting' : 'done'),
    phrase: ({ block_name }) => `${blockName(block_name)} needs your approval`,
  },
};
