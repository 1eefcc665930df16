// Renders a card for tests: in a chat, with a router, the labels of the server, and a query client filled from fixtures.

import { type QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { act, cleanup, render } from '@testing-library/react';
import type { ReactNode } from 'react';
import { vi } from 'vitest';
import { fixtureClient } from '@/styleguide/fixture-provider';
import { TOOLS } from '@/styleguide/fixtures/tools';
import { ToolCard } from '../tool-card';
import { TOOLS_QUERY } from '../tools-query';
import { CardContext, type ToolPart } from '../types';

type Options = {
  open?: boolean;
  live?: boolean;
  current?: boolean;
  busy?: boolean;
  send?: (text: string) => Promise<void>;
  client?: QueryClient;
};

/** Renders the card of a call in place of an earlier one and returns its container. */
export async function showCard(part: ToolPart, options: Options = {}): Promise<HTMLElement> {
  const { open, live, current } = options;
  return showInChat(<ToolCard part={part} open={open} live={live} current={current} />, options);
}

export async function showInChat(children: ReactNode, options: Options = {}): Promise<HTMLElement> {
  const { send = vi.fn(async () => {}), busy = false, client = fixtureClient() } = options;
  client.setQueryData(TOOLS_QUERY.queryKey, TOOLS);
  const root = createRootRoute({
    component: () => (
      <CardContext value={{ sessionId: 'session', busy, send }}>
        <main>{children}</main>
      </CardContext>
    ),
  });
  // Each test has its own history: the page's router must not navigate.
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
