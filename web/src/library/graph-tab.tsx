import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Maximize2 } from 'lucide-react';
import { type Agent, graphQuery } from '@/agents/agent-queries';
import { GraphFigure } from '@/graph/graph-figure';
import { buttonClasses } from '@/ui/buttons/button';
import { Failure, Loading } from '@/ui/page/states';

/** Tab with the graph of the agent. */
export function GraphTab({ agent }: { agent: Agent }) {
  const graph = useQuery(graphQuery(agent.graph_id, agent.graph_version));
  if (!graph.data && graph.error) {
    return <Failure error={graph.error} title="Couldn't load the graph" onRetry={() => graph.refetch()} />;
  }
  if (!graph.data) return <Loading label="Loading graph" rows={1} height="h-[60dvh]" />;
  return (
    <section aria-label="Graph" className="flex flex-col gap-3">
      <Link
        to="/build"
        search={{ flowID: agent.graph_id, flowVersion: agent.graph_version }}
        className={`${buttonClasses('secondary', 'small')} self-end`}
      >
        <Maximize2 aria-hidden className="size-4" />
        Full screen
      </Link>
      <GraphFigure graph={graph.data} className="h-[60dvh] min-h-96" />
    </section>
  );
}
