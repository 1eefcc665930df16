import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { Bot, ChevronLeft, MessagesSquare, MoreHorizontal } from 'lucide-react';
import { useState } from 'react';
import { type Agent, agentQuery } from '@/agents/agent-queries';
import { isNotFound } from '@/api/problem';
import { buttonClasses, IconButton } from '@/ui/buttons/button';
import { Menu } from '@/ui/buttons/menu';
import { Badge } from '@/ui/feedback/badge';
import { Page } from '@/ui/page/page';
import { Empty, Failure, Loading } from '@/ui/page/states';
import { TabLinks } from '@/ui/page/tab-links';
import type { Values } from '@/ui/schema-form/schema-form';
import { useAgentActions } from './agent-actions';
import { FavoriteButton } from './favorite-button';
import { GraphTab } from './graph-tab';
import { RunTab } from './run-tab';
import { RunsTab } from './runs-tab';

const route = getRouteApi('/library/agents/$id');

const TABS = ['run', 'runs', 'graph'] as const;
type Tab = (typeof TABS)[number];

/** Page of one agent: the form to run it, its runs and its graph. */
export function AgentPage() {
  const { id } = route.useParams();
  const agent = useQuery(agentQuery(id));
  // The key mounts a new page for another agent, so that typed inputs are not kept.
  if (agent.data) return <AgentView key={agent.data.id} agent={agent.data} />;
  if (agent.isPending) {
    return (
      <Page title="Agent" wide>
        <Loading label="Loading agent" rows={2} height="h-40" />
      </Page>
    );
  }
  return (
    <Page title="Agent" wide>
      {isNotFound(agent.error) ? (
        <Empty
          icon={<Bot />}
          title="Agent not found in your library"
          action={
            <Link to="/library" className={buttonClasses('primary')}>
              Back to library
            </Link>
          }
        >
          It may have been deleted, or you may not have access.
        </Empty>
      ) : (
        <Failure error={agent.error} title="Couldn't load the agent" onRetry={() => agent.refetch()} />
      )}
    </Page>
  );
}

function AgentView({ agent }: { agent: Agent }) {
  const { activeTab, activeItem } = route.useSearch();
  const navigate = useNavigate();
  const { items, dialogs } = useAgentActions(agent, () => navigate({ to: '/library' }));
  // Inputs of an earlier run to edit and run again. The number is the key of the form, so that it is mounted again.
  const [prefill, setPrefill] = useState<{ inputs: Values; number: number }>({ inputs: {}, number: 0 });
  const tab = TABS.find((one) => one === activeTab) ?? (activeItem ? 'runs' : 'run');

  function changeInputs(inputs: Values) {
    setPrefill((before) => ({ inputs, number: before.number + 1 }));
    void navigate({ to: '/library/agents/$id', params: { id: agent.id }, search: { activeTab: 'run' } });
  }

  return (
    <Page
      title={agent.name || 'Untitled agent'}
      wide
      before={
        <Link
          to="/library"
          className="-ml-1 inline-flex min-h-8 items-center gap-1 rounded text-sm text-muted hover:text-ink"
        >
          <ChevronLeft aria-hidden className="size-4" />
          Library
        </Link>
      }
      subtitle={<About agent={agent} />}
      actions={
        <>
          <FavoriteButton agent={agent} />
          <Link
            to="/copilot"
            search={{ prompt: `Tell me about my agent “${agent.name}” and help me use it.` }}
            className={buttonClasses('secondary')}
          >
            <MessagesSquare aria-hidden className="size-4" />
            Ask the copilot
          </Link>
          <Menu
            trigger={
              <IconButton label="More">
                <MoreHorizontal className="size-5" />
              </IconButton>
            }
          >
            {items}
          </Menu>
        </>
      }
    >
      {dialogs}
      <TabLinks<Tab>
        label="Agent"
        tabs={{ run: 'Run', runs: 'Runs', graph: 'Graph' }}
        current={tab}
        linkTo={(one) => ({
          to: '/library/agents/$id',
          params: { id: agent.id },
          search: { activeTab: one },
        })}
      />
      {/* Hidden, not unmounted, so that typed inputs are kept. */}
      <div hidden={tab !== 'run'}>
        <RunTab key={prefill.number} agent={agent} initial={prefill.inputs} />
      </div>
      {tab === 'runs' && <RunsTab agent={agent} chosen={activeItem} onChangeInputs={changeInputs} />}
      {tab === 'graph' && <GraphTab agent={agent} />}
    </Page>
  );
}

function About({ agent }: { agent: Agent }) {
  return (
    <div className="flex max-w-3xl flex-col gap-2">
      {agent.description && <p className="break-words whitespace-pre-line">{agent.description}</p>}
      <p className="flex flex-wrap items-center gap-1.5">
        <Badge>Version {agent.graph_version}</Badge>
        {agent.creator && <Badge>by {agent.creator}</Badge>}
        {agent.has_human_in_the_loop && <Badge tone="warn">Requires approval</Badge>}
        {agent.has_sensitive_action && <Badge tone="warn">External action</Badge>}
        {agent.has_external_trigger && <Badge>Event-triggered</Badge>}
      </p>
    </div>
  );
}
