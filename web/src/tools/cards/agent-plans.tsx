// Cards of what the copilot reads and plans before it builds an agent.

import type { PlannedStep } from '@/protocol';
import { Button } from '@/ui/buttons/button';
import { Badge } from '@/ui/feedback/badge';
import { Markdown } from '@/ui/markdown/markdown';
import { Fold } from '@/ui/page/fold';
import { More } from '@/ui/page/more';
import { ScrollBox } from '@/ui/page/scroll-box';
import { amount } from '@/ui/text/format';
import { blockName, humanName } from '@/ui/text/names';
import { buildPlanMessage } from '../building-messages';
import { type CardKinds, type CardProps, useCardActions } from '../types';
import { useCardSend } from '../use-card-send';
import { Buttons, SendOutcome } from './parts';

/** Steps beyond this number are counted, not shown. */
const MAX_STEPS = 30;

const ACTIONS: Record<string, string> = {
  add_block: 'Add block',
  connect_blocks: 'Connect blocks',
  configure: 'Configure',
  add_input: 'Add input',
  add_output: 'Add output',
};

function DecompositionCard({ response, part, current }: CardProps<'task_decomposition'>) {
  const { goal, steps, step_count } = response;
  const send = useCardSend(part.toolCallId);
  // While a turn is running, the copilot may build it already.
  const { busy } = useCardActions();
  return (
    <>
      <p className="break-words">
        <span className="text-muted">Goal: </span>
        {goal}
      </p>
      {steps.length === 0 ? (
        <p className="text-muted">The plan is empty.</p>
      ) : (
        <ol className="flex flex-col gap-2">
          {steps.slice(0, MAX_STEPS).map((step, index) => (
            <PlanItem key={step.step_id} number={index + 1} step={step} />
          ))}
        </ol>
      )}
      <More number={Math.max(steps.length, step_count) - Math.min(steps.length, MAX_STEPS)} />
      {current && !busy && send.sent === null && steps.length > 0 && (
        <Buttons>
          <Button kind="primary" busy={send.sending} onClick={() => void send.submit(buildPlanMessage(goal))}>
            Build this agent
          </Button>
        </Buttons>
      )}
      <SendOutcome send={send} sent="Sent to the copilot." />
    </>
  );
}

function PlanItem({
  number,
  step: { description, action, block_name },
}: {
  number: number;
  step: PlannedStep;
}) {
  return (
    <li className="flex min-w-0 gap-2">
      <span aria-hidden className="w-6 shrink-0 text-right text-muted tabular-nums">
        {number}.
      </span>
      <div className="min-w-0 flex-1">
        <p className="break-words">{description}</p>
        <p className="mt-0.5 flex flex-wrap items-center gap-2 text-xs text-muted">
          <Badge>{Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : humanName(action)}</Badge>
          {block_name && <span className="break-words">{blockName(block_name)}</span>}
        </p>
      </div>
    </li>
  );
}

function GuideCard({ response: { content } }: CardProps<'agent_builder_guide'>) {
  return (
    <>
      <p className="text-muted">The copilot has read how agents are built on this server.</p>
      {content && (
        <Fold title="Show the guide">
          <ScrollBox label="Agent building guide" className="border border-line px-4 py-3">
            <Markdown text={content} />
          </ScrollBox>
        </Fold>
      )}
    </>
  );
}

export const agentPlans: CardKinds<'task_decomposition' | 'agent_builder_guide'> = {
  task_decomposition: {
    Card: DecompositionCard,
    opens: true,
    phrase: () => 'Planned the agent',
    note: ({ step_count }) => amount(step_count, 'step'),
  },
  agent_builder_guide: { Card: GuideCard, phrase: () => 'Read the agent building guide' },
};
