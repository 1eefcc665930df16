import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { SearchX, Store, X } from 'lucide-react';
import type { StoreAgent } from '@/protocol';
import { buttonClasses } from '@/ui/buttons/button';
import { SearchBox } from '@/ui/form/search-box';
import { useSearchText } from '@/ui/form/use-search-text';
import { EXACT_MATCH } from '@/ui/page/links';
import { LoadMore } from '@/ui/page/load-more';
import { Page } from '@/ui/page/page';
import { Empty, Failure, LoadingCards } from '@/ui/page/states';
import { count } from '@/ui/text/format';
import { humanName } from '@/ui/text/names';
import { ListingCard } from './listing-card';
import { categoriesQuery, listingsQuery } from './listings';

const route = getRouteApi('/marketplace');

/** Published agents. */
export function MarketplacePage() {
  const { q, category, creator } = route.useSearch();
  const navigate = route.useNavigate();
  const [words, setWords] = useSearchText(q, (next) =>
    navigate({ search: (before) => ({ ...before, q: next }), replace: true }),
  );
  const listings = useInfiniteQuery({
    ...listingsQuery({ searchText: q, category, creator }),
    // Keeps the previous results on screen while a new search loads.
    placeholderData: (before) => before,
  });
  const categories = useQuery(categoriesQuery);
  const shown = listings.data?.pages.flatMap((page) => page.agents) ?? [];
  const total = listings.data?.pages[0]?.pagination.total_items;
  const isFiltered = Boolean(q || category || creator);
  const featured = isFiltered ? [] : shown.filter((listing) => listing.is_featured);
  const others = isFiltered ? shown : shown.filter((listing) => !listing.is_featured);

  return (
    <Page title="Marketplace" wide subtitle="Agents you can add to your library and run.">
      <div className="flex flex-col gap-3">
        <SearchBox label="Search marketplace" value={words} onChange={setWords} className="w-full max-w-xl" />
        <nav aria-label="Categories" className="-mx-4 overflow-x-auto px-4 pb-1 sm:mx-0 sm:px-0">
          <ul className="flex gap-2">
            <CategoryLink label="All" isCurrent={!category} />
            {categories.data?.map((one) => (
              <CategoryLink key={one} label={humanName(one)} category={one} isCurrent={one === category} />
            ))}
          </ul>
        </nav>
        {creator && (
          <p className="flex items-center gap-2 text-sm">
            Agents by <strong className="min-w-0 break-words">{creator}</strong>
            <Link
              to="/marketplace"
              search={(before) => ({ ...before, creator: undefined })}
              className={buttonClasses('quiet', 'small')}
            >
              <X aria-hidden className="size-4" />
              Show all
            </Link>
          </p>
        )}
      </div>
      <p role="status" className="sr-only">
        {total === undefined ? '' : `${count(total)} agents`}
      </p>
      {listings.error && shown.length === 0 ? (
        <Failure
          error={listings.error}
          title="Couldn't load the marketplace"
          onRetry={() => listings.refetch()}
        />
      ) : listings.isPending ? (
        <LoadingCards label="Loading marketplace" />
      ) : shown.length === 0 ? (
        <EmptyMarketplace isFiltered={isFiltered} />
      ) : (
        <>
          <Listings title="Featured" listings={featured} />
          <Listings title={featured.length > 0 ? 'More agents' : undefined} listings={others} />
        </>
      )}
      <LoadMore query={listings} />
    </Page>
  );
}

function Listings({ title, listings }: { title?: string; listings: StoreAgent[] }) {
  if (listings.length === 0) return null;
  return (
    <section aria-label={title ?? 'Agents'} className="flex flex-col gap-3">
      {title && <h2 className="text-lg font-semibold">{title}</h2>}
      <ul className="grid grid-cols-[minmax(0,1fr)] gap-3 sm:grid-cols-2 xl:grid-cols-3">
        {listings.map((listing) => (
          <li key={listing.store_listing_version_id} className="min-w-0">
            <ListingCard listing={listing} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function CategoryLink({
  label,
  category,
  isCurrent,
}: {
  label: string;
  category?: string;
  isCurrent: boolean;
}) {
  return (
    <li className="shrink-0">
      <Link
        to="/marketplace"
        search={(before) => ({ ...before, category })}
        aria-current={isCurrent ? 'page' : undefined}
        activeOptions={EXACT_MATCH}
        className="flex h-9 items-center rounded-full border border-line bg-surface px-4 text-sm text-muted hover:text-ink aria-[current=page]:border-accent aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-accent pointer-coarse:h-10"
      >
        {label}
      </Link>
    </li>
  );
}

function EmptyMarketplace({ isFiltered }: { isFiltered: boolean }) {
  if (!isFiltered) {
    return (
      <Empty icon={<Store />} title="No agents published yet">
        Published agents appear here.
      </Empty>
    );
  }
  return (
    <Empty
      icon={<SearchX />}
      title="No agents found"
      action={
        <Link to="/marketplace" search={{}} className={buttonClasses('secondary')}>
          Clear filters
        </Link>
      }
    >
      Try a different search or category.
    </Empty>
  );
}
