import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { ChevronLeft, Store } from 'lucide-react';
import { graphQuery } from '@/agents/agent-queries';
import { isNotFound } from '@/api/problem';
import { GraphFigure } from '@/graph/graph-figure';
import type { StoreAgentDetails } from '@/protocol';
import { buttonClasses } from '@/ui/buttons/button';
import { Badge } from '@/ui/feedback/badge';
import { Markdown } from '@/ui/markdown/markdown';
import { Page, Panel } from '@/ui/page/page';
import { Empty, Failure, Loading } from '@/ui/page/states';
import { FieldList } from '@/ui/schema-form/field-list';
import { fieldsOf } from '@/ui/schema-form/schema';
import { ago, count } from '@/ui/text/format';
import { humanName } from '@/ui/text/names';
import { AddToLibrary } from './add-to-library';
import { listingQuery } from './listings';

const route = getRouteApi('/marketplace/agent/$creator/$slug');

/** Page of one marketplace agent: description, graph, inputs, outputs, and the button to add it to the library. */
export function ListingPage() {
  const { creator, slug } = route.useParams();
  const listing = useQuery(listingQuery(creator, slug));
  if (listing.data) return <ListingView listing={listing.data} />;
  if (listing.isPending) {
    return (
      <Page title="Marketplace" wide before={<Back />}>
        <Loading label="Loading agent" rows={2} height="h-40" />
      </Page>
    );
  }
  return (
    <Page title="Marketplace" wide before={<Back />}>
      {isNotFound(listing.error) ? (
        <Empty
          icon={<Store />}
          title="Agent not found in the marketplace"
          action={
            <Link to="/marketplace" className={buttonClasses('primary')}>
              Browse marketplace
            </Link>
          }
        />
      ) : (
        <Failure error={listing.error} title="Couldn't load the agent" onRetry={() => listing.refetch()} />
      )}
    </Page>
  );
}

function ListingView({ listing }: { listing: StoreAgentDetails }) {
  const graph = useQuery(graphQuery(listing.graph_id, listing.graph_version));
  return (
    <Page
      title={listing.agent_name}
      wide
      before={<Back />}
      subtitle={
        <div className="flex max-w-3xl flex-col gap-2">
          {listing.sub_heading && <p className="break-words">{listing.sub_heading}</p>}
          <p className="flex flex-wrap items-center gap-x-2 gap-y-1.5">
            <span>
              by{' '}
              <Link
                to="/marketplace"
                search={{ creator: listing.creator }}
                className="rounded text-accent hover:underline"
              >
                {listing.creator}
              </Link>
            </span>
            <span>Updated {ago(listing.last_updated)}</span>
            {listing.runs > 0 && <span>{listing.runs === 1 ? '1 run' : `${count(listing.runs)} runs`}</span>}
            {listing.categories.map((category) => (
              <Link key={category} to="/marketplace" search={{ category }} className="rounded-full">
                <Badge>{humanName(category)}</Badge>
              </Link>
            ))}
            {listing.has_human_in_the_loop && <Badge tone="warn">Requires approval</Badge>}
            {listing.has_sensitive_action && <Badge tone="warn">External action</Badge>}
            {listing.has_external_trigger && <Badge>Event-triggered</Badge>}
          </p>
        </div>
      }
      actions={<AddToLibrary listing={listing} />}
    >
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-6 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="flex min-w-0 flex-col gap-6">
          <Panel title="About">
            <div className="text-sm">
              <Markdown text={listing.description || 'No description.'} />
              {listing.instructions && <Markdown text={listing.instructions} />}
            </div>
          </Panel>
          {graph.data && (
            <Panel title="Graph">
              <GraphFigure graph={graph.data} className="h-96" />
            </Panel>
          )}
        </div>
        <div className="flex min-w-0 flex-col gap-6">
          <Pins title="Inputs" schema={listing.input_schema} none="No inputs." />
          <Pins title="Outputs" schema={listing.output_schema} none="No outputs." />
        </div>
      </div>
    </Page>
  );
}

function Pins({ title, schema, none }: { title: string; schema: unknown; none: string }) {
  const fields = fieldsOf(schema);
  return (
    <Panel title={title}>
      {fields.length === 0 ? <p className="text-sm text-muted">{none}</p> : <FieldList fields={fields} />}
    </Panel>
  );
}

function Back() {
  return (
    <Link
      to="/marketplace"
      className="-ml-1 inline-flex min-h-8 items-center gap-1 rounded text-sm text-muted hover:text-ink"
    >
      <ChevronLeft aria-hidden className="size-4" />
      Marketplace
    </Link>
  );
}
