// A block that a person has to approve before it runs.

import { ReviewOfExecution } from '@/reviews/review-of-execution';
import { Button } from '@/ui/button';
import { blockName } from '@/ui/names';
import { useRemembered } from '../card-memory';
import { decidedMessage } from '../messages';
import type { CardKinds, CardProps } from '../types';
import { useCardSend } from '../use-card-send';
import { Buttons, SendOutcome } from './parts';

function ReviewCard({ response, part, current }: CardProps<'review_required'>) {
  const { block_name, review_id, graph_exec_id } = response;
  const send = useCardSend(part.toolCallId);
  const [decision, setDecision] = useRemembered<boolean | null>(`${part.toolCallId} decision`, null);
  const goOn = (approved: boolean) =>
    void send.submit(decidedMessage(blockName(block_name), review_id, approved));
  return (
    <>
      <p className="break-words">
        <span className="font-medium">{blockName(block_name)}</span> acts outside this conversation. It runs
        when you approve it.
      </p>
      <ReviewOfExecution
        executionId={graph_exec_id}
        reviewId={review_id}
        onDecided={(approved) => {
          setDecision(approved);
          goOn(approved);
        }}
      />
      {/* Decided, but the copilot was not told: why may be forgotten by now. */}
      {decision !== null && current && send.sent === null && !send.sending && (
        <Buttons>
          <Button kind="primary" onClick={() => goOn(decision)}>
            Continue
          </Button>
        </Buttons>
      )}
      <SendOutcome send={send} sent="The copilot was told." />
    </>
  );
}

export const reviews: CardKinds<'review_required'> = {
  review_required: {
    Card: ReviewCard,
    opens: true,
    standing: (_, { current }) => (current ? 'waiting' : 'done'),
    phrase: ({ block_name }) => `${blockName(block_name)} needs your approval`,
  },
};
