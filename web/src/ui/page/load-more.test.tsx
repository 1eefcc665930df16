import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LoadMore } from './load-more';

// Every element is in view.
beforeEach(() =>
  vi.stubGlobal(
    'IntersectionObserver',
    class {
      constructor(private readonly report: (entries: { isIntersecting: boolean }[]) => void) {}
      observe() {
        this.report([{ isIntersecting: true }]);
      }
      disconnect() {}
    },
  ),
);
afterEach(() => vi.unstubAllGlobals());

const idle = { hasNextPage: true, isFetchingNextPage: false, isFetchNextPageError: false };

test('the next page is loaded when the end is in view', () => {
  const fetchNextPage = vi.fn();
  render(<LoadMore query={{ ...idle, fetchNextPage }} />);
  expect(fetchNextPage).toHaveBeenCalledOnce();
});

test('a page that was refused is requested again only by the button', async () => {
  const fetchNextPage = vi.fn();
  render(<LoadMore query={{ ...idle, isFetchNextPageError: true, fetchNextPage }} />);
  expect(fetchNextPage).not.toHaveBeenCalled();
  await userEvent.click(screen.getByRole('button', { name: 'Retry' }));
  expect(fetchNextPage).toHaveBeenCalledOnce();
});
