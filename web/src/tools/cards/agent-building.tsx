// Cards of agents that the copilot has built: a preview, and one that was saved in the library.

import { ArrowUpRight, Workflow } from 'lucide-react';
import type { ReactNode } from 'react';
import { AgentStateBadge, AgentStateHint } from '@/agents/agent-state';
import { DiffLines } from '@/agents/diff-lines';
import { ProblemList } from '@/agents/problem-list';
import { GraphFigure } from '@/graph/graph-figure';
import type { BuiltAgent } from '@/protocol';
import { CodeBlock } from '@/ui/code/code-block';
import { Fold } from '@/ui/page/fold';
import { amount } from '@/ui/text/format';
import type { CardKinds, CardProps } from '../types';
import { PageLink } from './links';
import { Buttons, Facts } from './parts';

function PreviewCard({ response }: CardProps<'agent_preview'>) {
  const { agent_json, agent_name, spec } = response;
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
    </BuiltAgentView>
  );
}

function SavedCard({ response }: CardProps<'agent_saved'>) {
  return (
    <BuiltAgentView agent={response} facts={[`Version ${response.graph_version}`]}>
      <Buttons>
        <PageLink link={response.library_agent_link} kind="primary">
          Open in library
          <ArrowUpRight aria-hidden className="size-4" />
        </PageLink>
        <PageLink link={response.agent_page_link}>
          <Workflow aria-hidden className="size-4" />
          Open in builder
        </PageLink>
      </Buttons>
    </BuiltAgentView>
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
