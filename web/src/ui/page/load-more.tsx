import { useRef } from 'react';
import { Button } from '../buttons/button';
import { useOnSight } from './use-on-sight';

type Props = {
  query: {
    hasNextPage: boolean;
    isFetchingNextPage: boolean;
    isFetchNextPageError: boolean;
    fetchNextPage: () => unknown;
  };
  label?: string;
  /** A small button without a border, for narrow lists. */
  compact?: boolean;
};

/**
 * Loads the next page when the end of the list scrolls into view. The button is for keyboard users and for retries:
 * after an error nothing is loaded automatically, since the end would still be in view.
 */
export function LoadMore({ query, label = 'Show more', compact = false }: Props) {
  const end = useRef<HTMLDivElement>(null);
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = query;
  useOnSight(end, {
    enabled: hasNextPage && !isFetchingNextPage && !isFetchNextPageError,
    onSight: fetchNextPage,
    rootMargin: '400px',
  });
  if (!hasNextPage) return null;
  return (
    <div ref={end} className="flex flex-col items-center gap-2 py-2">
      {isFetchNextPageError && <p className="text-sm text-bad">Couldn't load more.</p>}
      <Button
        kind={compact ? 'quiet' : 'secondary'}
        size={compact ? 'small' : 'medium'}
        busy={isFetchingNextPage}
        onClick={() => fetchNextPage()}
      >
        {isFetchNextPageError ? 'Retry' : label}
      </Button>
    </div>
  );
}
