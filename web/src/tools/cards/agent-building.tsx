// Cards of agents that the copilot has built: a preview, and one that was saved in the library.

import { useNavigate } from '@tanstack/react-router';
import { ArrowUpRight, FlaskConical, Play, RotateCcw, Save, Workflow } from 'lucide-react';
import type { ReactNode } from 'react';
import { AgentStateBadge, AgentStateHint } from '@/agents/agent-state';
import { DiffLines } from '@/agents/diff-lines';
import { ProblemList } from '@/agents/problem-list';
import { GraphFigure } from '@/graph/graph-figure';
import { NEW_AGENT, proposeText, writeDraft } from '@/graph/spec/spec-drafts';
import type { AgentState, BuiltAgent } from '@/protocol';
import { Button } from '@/ui/buttons/button';
import { CodeBlock } from '@/ui/code/code-block';
import { Fold } from '@/ui/page/fold';
import { amount } from '@/ui/text/format';
import { saveMessage, tryAgainMessage } from '../building-messages';
import { runMessage } from '../messages';
import { toolOf } from '../tool-of';
import type { CardKinds, CardProps, ToolPart } from '../types';
import { useCardSend } from '../use-card-send';
import { goalOf } from './building-goal';
import { PageLink } from './links';
import { Buttons, Facts, SendOutcome } from './parts';
import { SavedGraph } from './saved-graph';

function PreviewCard({ response, part, current }: CardProps<'agent_preview'>) {
  const { agent_json, agent_name, spec, state } = response;
  const send = useCardSend(part.toolCallId);
  return (
    <BuiltAgentView
      agent={response}
      facts={['Not saved']}
      picture={
        (agent_json.nodes ?? []).length > 0 && (
          <GraphFigure graph={{ ...agent_json, name: agent_json.name || agent_name }} className="h-72" />
        )
      }
    >
      {spec && (
        <Fold title="Spec">
          <CodeBlock code={spec} language="yaml" />
        </Fold>
      )}
      <Buttons>
        {current && send.sent === null && (
          <Button
            kind="primary"
            icon={<Save aria-hidden className="size-4" />}
            busy={send.sending}
            disabled={state === 'draft'}
            onClick={() => void send.submit(saveMessage(agent_name))}
          >
            Save
          </Button>
        )}
        {spec && <OpenPreview part={part} graphId={agent_json.id} spec={spec} />}
        {current && <TryAgain part={part} />}
      </Buttons>
      <SendOutcome send={send} sent="Sent to the copilot." />
    </BuiltAgentView>
  );
}

/** Opens the spec in the builder as unsaved text: a preview of a change on its agent, any other as a new agent. */
function OpenPreview({ part, graphId, spec }: { part: ToolPart; graphId?: string; spec: string }) {
  const navigate = useNavigate();
  const stored = toolOf(part) === 'edit_agent' ? graphId : undefined;

  function open() {
    if (stored) proposeText(stored, spec);
    else writeDraft(NEW_AGENT, { loaded: { spec: '', version: 0, base: 0 }, text: spec });
    void navigate({ to: '/build', search: { flowID: stored, tab: 'spec' } });
  }

  return (
    <Button icon={<Workflow aria-hidden className="size-4" />} onClick={open}>
      Open in builder
    </Button>
  );
}

/** Nothing that could be run or rehearsed. */
const NOT_RUNNABLE: readonly AgentState[] = ['draft', 'blocked'];

function SavedCard({ response, part, current }: CardProps<'agent_saved'>) {
  const { agent_id, agent_name, graph_version, library_agent_id, state } = response;
  const run = useCardSend(`${part.toolCallId} run`);
  const canRun = !NOT_RUNNABLE.includes(state);
  return (
    <BuiltAgentView
      agent={response}
      facts={[`Version ${graph_version}`]}
      picture={agent_id && <SavedGraph graphId={agent_id} version={graph_version} />}
    >
      <Buttons>
        <PageLink link={response.library_agent_link} kind="primary">
          Open in library
          <ArrowUpRight aria-hidden className="size-4" />
        </PageLink>
        <PageLink link={response.agent_page_link}>
          <Workflow aria-hidden className="size-4" />
          Open in builder
        </PageLink>
        {canRun && (
          <PageLink link={withTab(response.agent_page_link, 'rehearse')}>
            <FlaskConical aria-hidden className="size-4" />
            Rehearse
          </PageLink>
        )}
        {canRun && current && run.sent === null && (
          <Button
            icon={<Play aria-hidden className="size-4" />}
            busy={run.sending}
            onClick={() =>
              void run.submit(runMessage({ what: 'agent', name: agent_name, id: library_agent_id }))
            }
          >
            Run
          </Button>
        )}
        {current && <TryAgain part={part} />}
      </Buttons>
      <SendOutcome send={run} sent="Run requested." />
    </BuiltAgentView>
  );
}

function withTab(link: string, tab: string): string {
  return link ? `${link}${link.includes('?') ? '&' : '?'}tab=${tab}` : '';
}

/** Asks for the same again; nothing for a call that was not made from words. */
function TryAgain({ part }: { part: ToolPart }) {
  const send = useCardSend(`${part.toolCallId} again`);
  const goal = goalOf(part);
  if (goal === null) return null;
  return (
    <>
      {send.sent === null && (
        <Button
          kind="quiet"
          icon={<RotateCcw aria-hidden className="size-4" />}
          busy={send.sending}
          onClick={() => void send.submit(tryAgainMessage(goal))}
        >
          Try again
        </Button>
      )}
      <SendOutcome send={send} sent="Sent to the copilot." />
    </>
  );
}

type ViewProps = { agent: BuiltAgent; facts: ReactNode[]; picture?: ReactNode; children: ReactNode };

function BuiltAgentView({ agent, facts, picture, children }: ViewProps) {
  const { agent_name, description, node_count, link_count, state, warnings = [], diff } = agent;
  return (
    <>
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-2">
          <span className="min-w-0 font-medium break-words">{agent_name || 'Untitled agent'}</span>
          <AgentStateBadge state={state} />
        </p>
        {description && <p className="mt-0.5 break-words text-muted">{description}</p>}
        <Facts facts={[...facts, amount(node_count, 'block'), amount(link_count, 'link')]} />
      </div>
      <AgentStateHint state={state} />
      {picture}
      {diff && (
        <Fold title="Changes" open>
          <DiffLines diff={diff} />
        </Fold>
      )}
      {warnings.length > 0 && (
        <Fold title={amount(warnings.length, 'warning')} open>
          <ProblemList problems={warnings} kind="warning" />
        </Fold>
      )}
      {children}
    </>
  );
}

export const agentBuilding: CardKinds<'agent_preview' | 'agent_saved'> = {
  agent_preview: {
    Card: PreviewCard,
    opens: true,
    phrase: ({ agent_name }) => `Preview of ${agent_name}`,
    note: ({ node_count }) => amount(node_count, 'block'),
  },
  agent_saved: {
    Card: SavedCard,
    opens: true,
    phrase: ({ agent_name }) => `Saved ${agent_name}`,
    note: ({ graph_version }) => `Version ${graph_version}`,
  },
};
