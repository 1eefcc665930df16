import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { ChevronLeft, Workflow } from 'lucide-react';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { agentOfGraph, graphQuery, LIBRARY } from '@/agents/agent-queries';
import { isNotFound } from '@/api/problem';
import { buttonClasses } from '@/ui/buttons/button';
import { Page, useTitle } from '@/ui/page/page';
import { Empty, Failure, Skeleton } from '@/ui/page/states';
import { TabLinks } from '@/ui/page/tab-links';
import { GraphFigure } from './graph-figure';
import { VersionPicker } from './version-picker';
import { nullIfMissing } from './versions';

const SpecTab = lazy(() => import('./spec/spec-tab').then(({ SpecTab }) => ({ default: SpecTab })));

const route = getRouteApi('/build');

const TABS = { graph: 'Graph', spec: 'Spec' } as const;
type Tab = keyof typeof TABS;

/** Full-page view of an agent as a graph and as a spec, with a version picker. */
export function BuildPage() {
  const { flowID, flowVersion } = route.useSearch();
  if (!flowID) {
    return (
      <Page title="Graph">
        <Empty
          icon={<Workflow />}
          title="No agent selected"
          action={
            <Link to="/library" className={buttonClasses('primary')}>
              Go to library
            </Link>
          }
        >
          Open an agent in your library to see its graph.
        </Empty>
      </Page>
    );
  }
  return <GraphPageContent graphId={flowID} version={flowVersion} />;
}

function GraphPageContent({ graphId, version }: { graphId: string; version?: number }) {
  const graph = useQuery({
    ...graphQuery(graphId, version),
    // Keeps the previous version on screen, and the focus on the picker, while another version loads.
    placeholderData: (before) => (before?.id === graphId ? before : undefined),
  });
  const agent = useQuery({
    queryKey: [...LIBRARY, 'of-graph', graphId],
    queryFn: () => agentOfGraph(graphId).catch(nullIfMissing),
  });
  const tab: Tab = route.useSearch().tab === 'spec' ? 'spec' : 'graph';
  useTitle(graph.data?.name ?? 'Graph');

  if (!graph.data && graph.error) {
    return (
      <Page title="Graph">
        {isNotFound(graph.error) ? (
          <Empty icon={<Workflow />} title="Agent or version not found" />
        ) : (
          <Failure error={graph.error} title="Couldn't load the graph" onRetry={() => graph.refetch()} />
        )}
      </Page>
    );
  }
  return (
    <div className="flex h-full min-h-0 flex-col">
      <header className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line bg-surface px-4 py-3">
        {agent.data && (
          <Link
            to="/library/agents/$id"
            params={{ id: agent.data.id }}
            className="-ml-1 inline-flex min-h-8 items-center gap-1 rounded text-sm text-muted hover:text-ink"
          >
            <ChevronLeft aria-hidden className="size-4" />
            Agent
          </Link>
        )}
        <h1 className="min-w-0 flex-1 truncate text-lg font-semibold">{graph.data?.name ?? 'Graph'}</h1>
        {graph.data && (
          <VersionPicker graphId={graphId} shown={version ?? graph.data.version ?? 1} tab={tab} />
        )}
      </header>
      <div className="bg-surface px-4">
        <TabLinks<Tab>
          label="Views"
          tabs={TABS}
          current={tab}
          linkTo={(one) => ({
            to: '/build',
            search: { flowID: graphId, flowVersion: version, tab: one === 'graph' ? undefined : one },
          })}
        />
      </div>
      {tab === 'graph' && (
        <div className="min-h-0 flex-1" aria-busy={graph.isPlaceholderData}>
          {graph.data ? (
            <GraphFigure graph={graph.data} fullPage className="min-h-0 flex-1" />
          ) : (
            <LoadingView label="Loading graph" />
          )}
        </div>
      )}
      {graph.data && (
        // The key discards the text of another agent or version.
        <KeptTab key={`${graphId}/${version ?? ''}`} shown={tab === 'spec'}>
          <Suspense fallback={<LoadingView label="Loading spec" />}>
            <SpecTab graphId={graphId} version={version ?? graph.data.version ?? 1} />
          </Suspense>
        </KeptTab>
      )}
    </div>
  );
}

/** A tab that is mounted when it is first shown, and then hidden instead of unmounted. */
function KeptTab({ shown, children }: { shown: boolean; children: ReactNode }) {
  const [wasShown, setWasShown] = useState(shown);
  if (shown && !wasShown) setWasShown(true);
  if (!wasShown) return null;
  return (
    <div hidden={!shown} className="min-h-0 flex-1 overflow-y-auto">
      {children}
    </div>
  );
}

function LoadingView({ label }: { label: string }) {
  return (
    <div role="status" className="h-full p-4">
      <span className="sr-only">{label}</span>
      <Skeleton className="h-full" />
    </div>
  );
}
