import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { ChevronLeft, Play, Workflow } from 'lucide-react';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { agentOfGraph, graphQuery, LIBRARY } from '@/agents/agent-queries';
import { isNotFound } from '@/api/problem';
import { buttonClasses } from '@/ui/buttons/button';
import { Page, useTitle } from '@/ui/page/page';
import { Empty, Failure, Skeleton } from '@/ui/page/states';
import { TabLinks } from '@/ui/page/tab-links';
import { BUILD_TABS, type BuildTab, linkToTab, tabOf } from './build-tabs';
import { GraphTab } from './graph-tab';
import { VersionPicker } from './versions/version-picker';
import { nullIfMissing } from './versions/version-requests';

const SpecTab = lazy(() => import('./spec/spec-tab').then(({ SpecTab }) => ({ default: SpecTab })));
const NewAgent = lazy(() => import('./spec/new-agent').then(({ NewAgent }) => ({ default: NewAgent })));
const RehearsalTab = lazy(() =>
  import('./rehearsal/rehearsal-tab').then(({ RehearsalTab }) => ({ default: RehearsalTab })),
);
const VersionsTab = lazy(() =>
  import('./versions/versions-tab').then(({ VersionsTab }) => ({ default: VersionsTab })),
);

const route = getRouteApi('/build');

/** An agent as a graph and as a spec, with its rehearsals and its versions; without an agent, a new one. */
export function BuildPage() {
  const { flowID, flowVersion, tab } = route.useSearch();
  if (flowID) return <GraphPageContent graphId={flowID} version={flowVersion} />;
  if (tab === 'spec') {
    return (
      <Suspense fallback={<LoadingView label="Loading spec" />}>
        <NewAgent />
      </Suspense>
    );
  }
  return (
    <Page title="Graph">
      <Empty
        icon={<Workflow />}
        title="No agent selected"
        action={
          <div className="flex flex-wrap justify-center gap-2">
            <Link to="/library" className={buttonClasses('primary')}>
              Go to library
            </Link>
            <Link to="/build" search={{ tab: 'spec' }} className={buttonClasses()}>
              Write a new agent
            </Link>
          </div>
        }
      >
        Open an agent in your library to see its graph.
      </Empty>
    </Page>
  );
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
  const tab = tabOf(route.useSearch().tab);
  const shown = version ?? graph.data?.version ?? 1;
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
        {graph.data && <VersionPicker graphId={graphId} shown={shown} tab={tab} />}
        {agent.data && (
          <Link
            to="/library/agents/$id"
            params={{ id: agent.data.id }}
            search={{ activeTab: 'run' }}
            className={buttonClasses('primary')}
          >
            <Play aria-hidden className="size-4" />
            Run
          </Link>
        )}
      </header>
      <div className="bg-surface px-4">
        <TabLinks<BuildTab>
          label="Views"
          tabs={BUILD_TABS}
          current={tab}
          linkTo={(one) => linkToTab(graphId, version, one)}
        />
      </div>
      {tab === 'graph' && (
        <div className="min-h-0 flex-1" aria-busy={graph.isPlaceholderData}>
          {graph.data ? (
            <GraphTab graph={graph.data} graphId={graphId} />
          ) : (
            <LoadingView label="Loading graph" />
          )}
        </div>
      )}
      {graph.data && (
        <>
          <KeptTab key={`spec ${graphId}/${version ?? ''}`} shown={tab === 'spec'}>
            <Suspense fallback={<LoadingView label="Loading spec" />}>
              <SpecTab graphId={graphId} version={shown} />
            </Suspense>
          </KeptTab>
          {/* The key discards the inputs and the results of another version. */}
          <KeptTab key={`rehearse ${graphId}/${graph.data.version}`} shown={tab === 'rehearse'}>
            <Suspense fallback={<LoadingView label="Loading rehearsal" />}>
              <RehearsalTab graph={graph.data} graphId={graphId} />
            </Suspense>
          </KeptTab>
        </>
      )}
      {tab === 'versions' && (
        <div tabIndex={0} className="min-h-0 flex-1 overflow-y-auto outline-none">
          <Suspense fallback={<LoadingView label="Loading versions" />}>
            <VersionsTab graphId={graphId} shown={shown} />
          </Suspense>
        </div>
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
