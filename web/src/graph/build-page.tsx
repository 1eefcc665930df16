import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { ChevronLeft, Workflow } from 'lucide-react';
import { api, dataOf } from '@/api/client';
import { ApiError } from '@/api/problem';
import { agentOfGraph, graphQuery, LIBRARY } from '@/library/agents';
import { buttonClasses } from '@/ui/button';
import { Select } from '@/ui/field';
import { when } from '@/ui/format';
import { Page, useTitle } from '@/ui/page';
import { Empty, Failure, Skeleton } from '@/ui/states';
import { GraphFigure } from './graph-figure';

const route = getRouteApi('/build');

/** Full-page view of a graph, with a version picker. */
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
  useTitle(graph.data?.name ?? 'Graph');

  if (!graph.data && graph.error) {
    const isMissing = graph.error instanceof ApiError && graph.error.status === 404;
    return (
      <Page title="Graph">
        {isMissing ? (
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
        {graph.data && <VersionPicker graphId={graphId} shown={version ?? graph.data.version ?? 1} />}
      </header>
      <div className="min-h-0 flex-1" aria-busy={graph.isPlaceholderData}>
        {graph.data ? (
          <GraphFigure graph={graph.data} fullPage className="min-h-0 flex-1" />
        ) : (
          <div role="status" className="h-full p-4">
            <span className="sr-only">Loading graph</span>
            <Skeleton className="h-full" />
          </div>
        )}
      </div>
    </div>
  );
}

function VersionPicker({ graphId, shown }: { graphId: string; shown: number }) {
  const navigate = route.useNavigate();
  const versions = useQuery({
    queryKey: ['graph', graphId, 'versions'],
    // The versions of an agent are visible to its owner only.
    queryFn: () =>
      dataOf(api.GET('/api/graphs/{graph_id}/versions', { params: { path: { graph_id: graphId } } })).catch(
        nullIfMissing,
      ),
  });
  if (!versions.data || versions.data.length < 2) {
    return <span className="text-sm text-muted">Version {shown}</span>;
  }
  return (
    <div className="w-60 max-w-full">
      <Select
        aria-label="Version"
        value={shown}
        onChange={(event) =>
          navigate({ search: { flowID: graphId, flowVersion: Number(event.target.value) } })
        }
      >
        {versions.data.map((version) => (
          <option key={version.version} value={version.version}>
            Version {version.version}
            {version.is_active ? ', active' : ''} · {when(version.created_at)}
          </option>
        ))}
      </Select>
    </div>
  );
}

function nullIfMissing(error: unknown): null {
  if (error instanceof ApiError && error.status === 404) return null;
  throw error;
}
