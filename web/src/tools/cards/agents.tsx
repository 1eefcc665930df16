// Cards of agents: search results, and the form to run one.

import { Link } from '@tanstack/react-router';
import { Bot, Play, TriangleAlert, Workflow } from 'lucide-react';
import { asRecord } from '@/lib/json';
import type { AgentInfo } from '@/protocol';
import { Button, buttonClasses } from '@/ui/buttons/button';
import { Badge } from '@/ui/feedback/badge';
import { count } from '@/ui/text/format';
import { type Runnable, runMessage } from '../messages';
import type { CardKinds, CardProps, ToolPart } from '../types';
import { useCardSend } from '../use-card-send';
import { LINK, ViewGraph } from './links';
import { Buttons, Facts, Row, Rows, SendOutcome } from './parts';
import { RunForm } from './run-form';

function AgentsFoundCard({ response: { agents }, part }: CardProps<'agents_found'>) {
  if (agents.length === 0) return <p className="text-muted">No agents found.</p>;
  return (
    <Rows>
      {agents.map((agent) => (
        <FoundAgent key={agent.id} agent={agent} part={part} />
      ))}
    </Rows>
  );
}

function FoundAgent({ agent, part }: { agent: AgentInfo; part: ToolPart }) {
  const send = useCardSend(`${part.toolCallId} ${agent.id}`);
  return (
    <Row className="flex flex-wrap items-start gap-x-3 gap-y-2 sm:flex-nowrap">
      <Bot aria-hidden className="mt-0.5 size-5 shrink-0 text-accent" />
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-2">
          <AgentLink agent={agent} />
          {agent.in_library && agent.source === 'marketplace' && <Badge>In your library</Badge>}
          {agent.is_featured && <Badge tone="accent">Featured</Badge>}
          {agent.has_external_trigger && <Badge>Event-triggered</Badge>}
        </p>
        <p className="mt-0.5 line-clamp-3 break-words text-muted">{agent.description}</p>
        <Facts
          facts={[
            agent.creator && `By ${agent.creator}`,
            agent.category,
            typeof agent.runs === 'number' && agent.runs > 0 && `${count(agent.runs)} runs`,
          ]}
        />
        <SendOutcome send={send} sent="Run requested." />
      </div>
      {agent.source === 'library' && agent.graph_id && (
        <Link
          to="/build"
          search={{ flowID: agent.graph_id, flowVersion: agent.graph_version }}
          title="View graph"
          aria-label={`View graph of ${agent.name}`}
          className={buttonClasses('quiet', 'small')}
        >
          <Workflow aria-hidden className="size-4" />
        </Link>
      )}
      {!agent.has_external_trigger && (
        <Button
          size="small"
          icon={<Play className="size-3.5" />}
          busy={send.sending}
          aria-label={`Run ${agent.name}`}
          onClick={() => void send.submit(runMessage({ what: 'agent', name: agent.name, id: agent.id }))}
        >
          Run
        </Button>
      )}
    </Row>
  );
}

function AgentLink({ agent }: { agent: AgentInfo }) {
  const [creator, slug] = agent.id.split('/');
  if (agent.source === 'library')
    return (
      <Link to="/library/agents/$id" params={{ id: agent.id }} className={LINK}>
        {agent.name}
      </Link>
    );
  if (!creator || !slug) return <span className="font-medium break-words">{agent.name}</span>;
  return (
    <Link to="/marketplace/agent/$creator/$slug" params={{ creator, slug }} className={LINK}>
      {agent.name}
    </Link>
  );
}

function AgentDetailsCard({ response, part, current }: CardProps<'agent_details'>) {
  const { agent, graph_id, graph_version } = response;
  const { manual, webhook } = agent.execution_options;
  return (
    <>
      <div className="min-w-0">
        {agent.in_library ? (
          <Link to="/library/agents/$id" params={{ id: agent.id }} className={LINK}>
            {agent.name}
          </Link>
        ) : (
          <p className="font-medium break-words">{agent.name}</p>
        )}
        <p className="break-words text-muted">{agent.description}</p>
      </div>
      {manual ? (
        <RunForm
          name={part.toolCallId}
          current={current}
          schema={agent.inputs}
          initial={asRecord(asRecord(part.input).inputs)}
          runnable={agentOf(part, agent.name, agent.id)}
          libraryAgentId={agent.in_library ? agent.id : null}
        />
      ) : (
        webhook && <p>This agent starts on an external event. Set up its trigger on the agent's page.</p>
      )}
      {graph_id && (
        <Buttons>
          <ViewGraph graphId={graph_id} graphVersion={graph_version} />
        </Buttons>
      )}
    </>
  );
}

function InputValidationCard({ response, part, current }: CardProps<'input_validation_error'>) {
  const { message, unrecognized_fields, inputs, graph_id } = response;
  const { block_id, inputs: callInputs, input_data, library_agent_id } = asRecord(part.input);
  const runnable: Runnable =
    typeof block_id === 'string'
      ? { what: 'block', name: '', id: block_id }
      : agentOf(part, '', graph_id ?? '');
  return (
    <>
      <p className="flex gap-2 break-words">
        <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-warn" />
        <span className="min-w-0">{message}</span>
      </p>
      <RunForm
        name={part.toolCallId}
        current={current}
        schema={inputs}
        initial={without(asRecord(callInputs ?? input_data), unrecognized_fields)}
        runnable={runnable}
        libraryAgentId={library_agent_id}
      />
    </>
  );
}

/** The agent under the id that the call used, so that the tool finds it again. */
function agentOf(part: ToolPart, name: string, id: string): Runnable {
  const { username_agent_slug, library_agent_id } = asRecord(part.input);
  const named = [username_agent_slug, library_agent_id].find((word) => typeof word === 'string' && word);
  return { what: 'agent', name, id: typeof named === 'string' ? named : id };
}

function without(values: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));
}

export const agents: CardKinds<'agents_found' | 'agent_details' | 'input_validation_error'> = {
  agents_found: {
    Card: AgentsFoundCard,
    opens: true,
    note: ({ count }) => (count === 1 ? '1 agent' : `${count} agents`),
  },
  agent_details: {
    Card: AgentDetailsCard,
    opens: true,
    status: (_, { current }) => (current ? 'waiting' : 'done'),
    phrase: ({ agent }) => `Inputs for ${agent.name}`,
  },
  input_validation_error: {
    Card: InputValidationCard,
    opens: true,
    status: (_, { current }) => (current ? 'waiting' : 'failed'),
    phrase: () => 'Invalid inputs',
  },
};
