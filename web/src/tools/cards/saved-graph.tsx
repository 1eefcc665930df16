import { useQuery } from '@tanstack/react-query';
import { graphQuery } from '@/agents/agent-queries';
import { isNotFound } from '@/api/problem';
import { GraphFigure } from '@/graph/graph-figure';
import { Failure, Skeleton } from '@/ui/page/states';

/** Picture of a saved version. Its space is reserved while the graph loads. */
export function SavedGraph({ graphId, version }: { graphId: string; version: number }) {
  const graph = useQuery(graphQuery(graphId, version));
  if (graph.data) return <GraphFigure graph={graph.data} className="h-72" />;
  if (isNotFound(graph.error)) return <p className="text-muted">This version is no longer available.</p>;
  if (graph.error) {
    return <Failure error={graph.error} title="Couldn't load the graph" onRetry={() => graph.refetch()} />;
  }
  // As high as the picture with its text version.
  return <Skeleton className="h-80" />;
}
