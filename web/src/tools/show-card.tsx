// How the tests of the cards show one: in a conversation, with a router and a server that is written down.

import { type QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { act, cleanup, render } from '@testing-library/react';
import type { ReactNode } from 'react';
import { vi } from 'vitest';
import { writtenDown } from '@/styleguide/offline';
import { ToolCard } from './tool-card';
import { CardContext, type ToolPart } from './types';

type Options = {
  open?: boolean;
  live?: boolean;
  current?: boolean;
  busy?: boolean;
  send?: (text: string) => Promise<void>;
  client?: QueryClient;
};

/** Shows the card of a call instead of what was shown before, and gives the box it stands in. */
export async function showCard(part: ToolPart, options: Options = {}): Promise<HTMLElement> {
  const { open, live, current } = options;
  return showInConversation(<ToolCard part={part} open={open} live={live} current={current} />, options);
}

export async function showInConversation(children: ReactNode, options: Options = {}): Promise<HTMLElement> {
  const { send = vi.fn(async () => {}), busy = false, client = writtenDown() } = options;
  const root = createRootRoute({
    component: () => (
      <CardContext value={{ sessionId: 'session', busy, send }}>
        <main>{children}</main>
      </CardContext>
    ),
  });
  // The memory is the test's own: the router of the page may not be moved.
  const router = createRouter({ routeTree: root, history: createMemoryHistory() });
  await router.load();
  cleanup();
  const shown = render(
    <QueryClientProvider client={client}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  return act(() => vi.waitFor(() => shown.getByRole('main'), { interval: 1 }));
}
