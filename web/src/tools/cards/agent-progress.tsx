// The card of a call that makes an agent from words: the stage that the work has reached.

import type { CardKinds, CardProps } from '../types';
import { progressOfOutput } from '../waiting/building-stages';
import { StageList } from '../waiting/stage-list';

function ProgressCard({ response }: CardProps<'agent_progress'>) {
  return <StageList progress={progressOfOutput(response)} />;
}

export const agentProgress: CardKinds<'agent_progress'> = {
  agent_progress: {
    Card: ProgressCard,
    opens: true,
    status: () => 'running',
    phrase: (response) => progressOfOutput(response)?.label,
  },
};
