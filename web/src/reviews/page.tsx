import { Link } from '@tanstack/react-router';
import { UserCheck } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { Review } from '@/protocol';
import { Button, buttonClasses } from '@/ui/buttons/button';
import { Page } from '@/ui/page/page';
import { Empty, Failure, Loading } from '@/ui/page/states';
import { PAGE_SIZE, usePending } from './queries';
import { RunReviews } from './run-reviews';

/** Pending reviews of the user, grouped by run, oldest first. */
export function ReviewsPage() {
  const [page, setPage] = useState(1);
  const pending = usePending(page);
  const list = useRef<HTMLDivElement>(null);
  const reviews = pending.data ?? [];
  const isEmptied = page > 1 && pending.isSuccess && !pending.isPlaceholderData && reviews.length === 0;

  // The last review of this page was decided.
  useEffect(() => {
    if (isEmptied) setPage((current) => current - 1);
  }, [isEmptied]);

  return (
    <Page title="Reviews" subtitle="Runs resume as soon as you decide.">
      <div ref={list} tabIndex={-1} className="flex flex-col gap-4 outline-none">
        {pending.isError && (
          <Failure
            title={pending.data ? 'This list may be out of date' : undefined}
            error={pending.error}
            onRetry={() => pending.refetch()}
          />
        )}
        {pending.isPending && <Loading label="Loading reviews" rows={2} height="h-48" />}
        {pending.isSuccess && reviews.length === 0 && !isEmptied && <NoPendingReviews />}
        {byRun(reviews).map(([run, pendingOfRun]) => (
          <RunReviews key={run} reviews={pendingOfRun} onDecided={() => list.current?.focus()} />
        ))}
      </div>
      {(page > 1 || reviews.length === PAGE_SIZE) && (
        <nav aria-label="Review pages" className="flex items-center justify-center gap-3 text-sm">
          <Button disabled={page === 1} onClick={() => setPage(page - 1)}>
            Previous
          </Button>
          <span aria-live="polite">Page {page}</span>
          <Button disabled={reviews.length < PAGE_SIZE} onClick={() => setPage(page + 1)}>
            Next
          </Button>
        </nav>
      )}
    </Page>
  );
}

function NoPendingReviews() {
  return (
    <Empty
      icon={<UserCheck />}
      title="All caught up"
      action={
        <Link to="/marketplace" className={buttonClasses('secondary')}>
          Browse marketplace
        </Link>
      }
    >
      Approval requests from agents and the copilot appear here.
    </Empty>
  );
}

/** Groups reviews by run, ordered by the oldest review of each. */
function byRun(reviews: Review[]): [string, Review[]][] {
  const runs = new Map<string, Review[]>();
  for (const review of reviews)
    runs.set(review.graph_exec_id, [...(runs.get(review.graph_exec_id) ?? []), review]);
  return [...runs];
}
