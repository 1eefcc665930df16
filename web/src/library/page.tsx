import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Library, SearchX, Star, Store, Upload } from 'lucide-react';
import { useLastExecutions } from '@/executions/last-executions';
import { Button, buttonClasses } from '@/ui/buttons/button';
import { Select } from '@/ui/form/field';
import { SearchBox } from '@/ui/form/search-box';
import { useSearchText } from '@/ui/form/use-search-text';
import { LoadMore } from '@/ui/page/load-more';
import { Page } from '@/ui/page/page';
import { Empty, Failure, LoadingCards } from '@/ui/page/states';
import { count } from '@/ui/text/format';
import { AgentCard } from './agent-card';
import { agentsQuery, FAVORITES, SORTS, type Sort } from './agent-list';
import { FolderNav } from './folder-nav';
import { useImport } from './import';

const route = getRouteApi('/library');

/** The user's agents. */
export function LibraryPage() {
  const { q, folder, ...order } = route.useSearch();
  const sort = order.sort && order.sort in SORTS ? (order.sort as Sort) : 'updatedAt';
  const navigate = route.useNavigate();
  const [words, setWords] = useSearchText(q, (next) =>
    navigate({ search: (before) => ({ ...before, q: next }), replace: true }),
  );
  const agents = useInfiniteQuery({
    ...agentsQuery({ searchText: q, folder, sort }),
    // Keeps the previous results on screen while a new search loads.
    placeholderData: (before) => before,
  });
  const lastRuns = useLastExecutions();
  const importing = useImport();

  const shown = agents.data?.pages.flatMap((page) => page.agents) ?? [];
  const total = agents.data?.pages[0]?.pagination.total_items;

  return (
    <Page
      title="Library"
      wide
      subtitle="Agents you created or added from the marketplace."
      actions={
        <>
          <Link to="/marketplace" className={buttonClasses('secondary')}>
            <Store aria-hidden className="size-4" />
            Marketplace
          </Link>
          <Button
            icon={<Upload aria-hidden className="size-4" />}
            busy={importing.busy}
            onClick={importing.choose}
          >
            Import
          </Button>
        </>
      }
    >
      {importing.controls}
      <div className="grid grid-cols-[minmax(0,1fr)] gap-6 lg:grid-cols-[15rem_minmax(0,1fr)]">
        <FolderNav chosen={folder} />
        <section aria-label="Agents" className="flex min-w-0 flex-col gap-4">
          <div className="flex gap-2">
            <SearchBox
              label="Search your agents"
              value={words}
              onChange={setWords}
              className="min-w-0 flex-1"
            />
            <div className="w-40 shrink-0">
              <Select
                aria-label="Sort by"
                className="h-10"
                value={sort}
                disabled={Boolean(q)}
                onChange={(event) => {
                  const next = event.target.value as Sort;
                  void navigate({ search: (before) => ({ ...before, sort: next }), replace: true });
                }}
              >
                {Object.entries(SORTS).map(([key, label]) => (
                  <option key={key} value={key}>
                    {label}
                  </option>
                ))}
              </Select>
            </div>
          </div>
          <p role="status" className="sr-only">
            {total === undefined ? '' : `${count(total)} agents`}
          </p>
          {agents.error && shown.length === 0 ? (
            <Failure
              error={agents.error}
              title="Couldn't load your agents"
              onRetry={() => agents.refetch()}
            />
          ) : agents.isPending ? (
            <LoadingCards label="Loading agents" />
          ) : shown.length === 0 ? (
            <EmptyLibrary searchText={q} folder={folder} onImport={importing.choose} />
          ) : (
            <ul
              className="grid grid-cols-[minmax(0,1fr)] gap-3 sm:grid-cols-2 xl:grid-cols-3"
              aria-busy={agents.isPlaceholderData}
            >
              {shown.map((agent) => (
                <li key={agent.id} className="min-w-0">
                  <AgentCard agent={agent} lastRun={lastRuns.get(agent.graph_id)} />
                </li>
              ))}
            </ul>
          )}
          <LoadMore query={agents} />
        </section>
      </div>
    </Page>
  );
}

function EmptyLibrary({
  searchText,
  folder,
  onImport,
}: {
  searchText?: string;
  folder?: string;
  onImport: () => void;
}) {
  if (searchText) {
    return (
      <Empty icon={<SearchX />} title={`No agents found for “${searchText}”`}>
        Try a different search, or browse the marketplace.
      </Empty>
    );
  }
  if (folder === FAVORITES) {
    return (
      <Empty icon={<Star />} title="No favorites yet">
        Star an agent to see it here.
      </Empty>
    );
  }
  if (folder) {
    return (
      <Empty icon={<Library />} title="This folder is empty">
        Use “Move to folder” to add agents here.
      </Empty>
    );
  }
  return (
    <Empty
      icon={<Library />}
      title="No agents yet"
      action={
        <div className="flex flex-wrap justify-center gap-2">
          <Link to="/marketplace" className={buttonClasses('primary')}>
            Browse marketplace
          </Link>
          <Button onClick={onImport}>Import</Button>
        </div>
      }
    >
      Add one from the marketplace, import one from a file, or ask the copilot to create one.
    </Empty>
  );
}
