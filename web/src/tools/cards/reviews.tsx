// A block that a person has to approve before it runs.

import { useState } from 'react';
import { ReviewOfExecution } from '@/reviews/review-of-execution';
import { Button } from '@/ui/button';
import { blockName } from '@/ui/names';
import { decidedMessage } from '../messages';
import type { CardKinds, CardProps } from '../types';
import { useCardSend } from '../use-card-send';
import { Buttons, SendOutcome } from './parts';

function ReviewCard({ response, part }: CardProps<'review_required'>) {
  const { block_name, review_id, graph_exec_id } = response;
  const send = useCardSend(part.toolCallId);
  const [decision, setDecision] = useState<boolean | null>(null);
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
      {decision !== null && send.error && (
        <Buttons>
          <Button kind="primary" busy={send.sending} onClick={() => goOn(decision)}>
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
