type Paginated = { pagination: { current_page: number; total_pages: number } };

/** Options of an infinite query whose route counts its pages from 1. */
export const NUMBERED_PAGES = {
  initialPageParam: 1,
  getNextPageParam: ({ pagination }: Paginated): number | undefined =>
    pagination.current_page < pagination.total_pages ? pagination.current_page + 1 : undefined,
};
