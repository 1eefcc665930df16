import { Link } from '@tanstack/react-router';
import { UserCheck } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { Review } from '@/protocol';
import { Button, buttonClasses } from '@/ui/button';
import { Page } from '@/ui/page';
import { Empty, Failure, Loading } from '@/ui/states';
import { PAGE_SIZE, usePending } from './queries';
import { RunOfReviews } from './run-of-reviews';

/** Everything that waits for this person, run by run, the oldest first. */
export function ReviewsPage() {
  const [page, setPage] = useState(1);
  const pending = usePending(page);
  const list = useRef<HTMLDivElement>(null);
  const reviews = pending.data ?? [];
  const emptied = page > 1 && pending.isSuccess && !pending.isPlaceholderData && reviews.length === 0;

  // The last of this page was decided.
  useEffect(() => {
    if (emptied) setPage((current) => current - 1);
  }, [emptied]);

  return (
    <Page title="Reviews" subtitle="Runs that wait for your decision go on as soon as you have made it.">
      <div ref={list} tabIndex={-1} className="flex flex-col gap-4 outline-none">
        {pending.isError && (
          <Failure
            title={pending.data ? 'This list may be out of date.' : undefined}
            error={pending.error}
            onRetry={() => pending.refetch()}
          />
        )}
        {pending.isPending && <Loading label="Loading reviews" rows={2} height="h-48" />}
        {pending.isSuccess && reviews.length === 0 && !emptied && <NothingWaits />}
        {byRun(reviews).map(([run, asked]) => (
          <RunOfReviews key={run} reviews={asked} onDecided={() => list.current?.focus()} />
        ))}
      </div>
      {(page > 1 || reviews.length === PAGE_SIZE) && (
        <nav aria-label="Pages of reviews" className="flex items-center justify-center gap-3 text-sm">
          <Button disabled={page === 1} onClick={() => setPage(page - 1)}>
            Earlier
          </Button>
          <span aria-live="polite">Page {page}</span>
          <Button disabled={reviews.length < PAGE_SIZE} onClick={() => setPage(page + 1)}>
            Later
          </Button>
        </nav>
      )}
    </Page>
  );
}

function NothingWaits() {
  return (
    <Empty
      icon={<UserCheck />}
      title="Nothing waits for you"
      action={
        <Link to="/marketplace" className={buttonClasses('secondary')}>
          Find agents in the marketplace
        </Link>
      }
    >
      When an agent needs your approval, or the copilot wants to act on the world, it asks here.
    </Empty>
  );
}

/** Runs in the order of their oldest question. */
function byRun(reviews: Review[]): [string, Review[]][] {
  const runs = new Map<string, Review[]>();
  for (const review of reviews)
    runs.set(review.graph_exec_id, [...(runs.get(review.graph_exec_id) ?? []), review]);
  return [...runs];
}
