// Cards of what an agent or a block needs before it can run, and of suggested goals.

import { Check, KeyRound } from 'lucide-react';
import { asRecord } from '@/lib/json';
import type { NeededCredentials, NeededInput, Response } from '@/protocol';
import { Button } from '@/ui/buttons/button';
import { Badge } from '@/ui/feedback/badge';
import { goalMessage, keepGoalMessage, type Runnable } from '../messages';
import type { CardKinds, CardProps } from '../types';
import { useCardSend } from '../use-card-send';
import { Buttons, Row, Rows, SendOutcome } from './parts';
import { RunForm } from './run-form';

function SetupCard({ response, part, current }: CardProps<'setup_requirements'>) {
  const { setup_info, graph_id, message } = response;
  const { agent_id, agent_name, requirements, user_readiness } = setup_info;
  const input = asRecord(part.input);
  const named = [input.username_agent_slug, input.library_agent_id].find(
    (id) => typeof id === 'string' && id,
  );
  const runnable: Runnable = {
    what: graph_id ? 'agent' : 'block',
    name: agent_name,
    id: typeof named === 'string' ? named : agent_id,
  };
  const missing = user_readiness.missing_credentials;
  return (
    <>
      <p className="break-words whitespace-pre-wrap">{message || `Requirements for ${agent_name}.`}</p>
      {requirements.credentials.length > 0 && (
        <Rows>
          {requirements.credentials.map((credentials) => (
            <Credentials
              key={credentials.id}
              credentials={credentials}
              missing={Object.hasOwn(missing, credentials.id)}
            />
          ))}
        </Rows>
      )}
      {canRun(response) && (
        <RunForm
          name={part.toolCallId}
          current={current}
          schema={schemaOf(requirements.inputs)}
          initial={asRecord(input.inputs ?? input.input_data)}
          runnable={runnable}
          libraryAgentId={input.library_agent_id}
        />
      )}
    </>
  );
}

/** Credentials cannot be entered here, so a run without them would fail. */
function canRun({ setup_info: { user_readiness } }: Response<'setup_requirements'>): boolean {
  return user_readiness.ready_to_run || Object.keys(user_readiness.missing_credentials).length === 0;
}

function Credentials({ credentials, missing }: { credentials: NeededCredentials; missing: boolean }) {
  const { title, provider, needed_by } = credentials;
  return (
    <Row className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
      <KeyRound aria-hidden className="size-4 shrink-0 text-muted" />
      <span className="min-w-0 flex-1 break-words">
        <span className="font-medium">{title}</span>
        {provider && <span className="text-muted"> ({provider})</span>}
        {needed_by.length > 0 && (
          <span className="block text-xs text-muted">Needed by {needed_by.join(', ')}</span>
        )}
      </span>
      <Badge tone={missing ? 'warn' : 'good'}>
        {!missing && <Check aria-hidden className="size-3" />}
        {missing ? 'Missing' : 'Available'}
      </Badge>
    </Row>
  );
}

/** The inputs as one object schema for the form. */
function schemaOf(inputs: readonly NeededInput[]): Record<string, unknown> {
  return {
    type: 'object',
    required: inputs.filter(({ required }) => required).map(({ name }) => name),
    properties: Object.fromEntries(
      inputs.map(({ name, title, description, schema }) => [
        name,
        { ...asRecord(schema), ...(title && { title }), ...(description && { description }) },
      ]),
    ),
  };
}

function GoalCard({ response, part, current }: CardProps<'suggested_goal'>) {
  const { suggested_goal, reason, original_goal, goal_type } = response;
  const send = useCardSend(part.toolCallId);
  return (
    <>
      <p className="text-muted">
        {goal_type === 'unachievable'
          ? "This goal isn't achievable as written."
          : 'This goal needs more detail.'}
        <span className="break-words"> {reason}</span>
      </p>
      {original_goal && <p className="break-words text-muted line-through">{original_goal}</p>}
      <blockquote className="border-l-2 border-accent pl-3 font-medium break-words whitespace-pre-wrap">
        {suggested_goal}
      </blockquote>
      {current && send.sent === null && (
        <Buttons>
          <Button
            kind="primary"
            busy={send.sending}
            onClick={() => void send.submit(goalMessage(suggested_goal))}
          >
            Use this goal
          </Button>
          <Button disabled={send.sending} onClick={() => void send.submit(keepGoalMessage(original_goal))}>
            Keep my goal
          </Button>
        </Buttons>
      )}
      <SendOutcome send={send} sent="Sent to the copilot." />
    </>
  );
}

export const setup: CardKinds<'setup_requirements' | 'suggested_goal'> = {
  setup_requirements: {
    Card: SetupCard,
    opens: true,
    status: (response, { current }) => (!canRun(response) ? 'failed' : current ? 'waiting' : 'done'),
    phrase: (response) => {
      const { agent_name } = response.setup_info;
      return canRun(response) ? `Requirements for ${agent_name}` : `${agent_name} can't run here`;
    },
  },
  suggested_goal: {
    Card: GoalCard,
    opens: true,
    phrase: () => 'Suggested another goal',
    status: (_, { current }) => (current ? 'waiting' : 'done'),
  },
};
