import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router';
import { act, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, it, vi } from 'vitest';
import { serve, show } from '@/testing/fake-server';
import { AgentPage } from './agent-page';

const agent = (id: string) => ({
  id,
  graph_id: `graph of ${id}`,
  graph_version: 1,
  name: id,
  description: '',
  input_schema: { type: 'object', properties: { place: { type: 'string', title: 'Place' } } },
  output_schema: {},
  settings: {},
});

afterEach(() => vi.unstubAllGlobals());

it('what was typed for one agent is not there for another', async () => {
  serve({
    'GET /api/library/agents/tides': () => agent('tides'),
    'GET /api/library/agents/winds': () => agent('winds'),
  });
  const root = createRootRoute();
  const route = createRoute({
    getParentRoute: () => root,
    path: '/library/agents/$id',
    component: AgentPage,
  });
  const router = createRouter({
    routeTree: root.addChildren([route]),
    history: createMemoryHistory({ initialEntries: ['/library/agents/winds'] }),
  });
  const go = (id: string) => act(() => router.navigate({ to: '/library/agents/$id', params: { id } }));
  // The links belong to the router of the app, whose type is the registered one.
  show(<RouterProvider router={router as never} />);
  await screen.findByRole('heading', { name: 'winds' });
  await go('tides');
  await screen.findByRole('heading', { name: 'tides' });
  await userEvent.type(screen.getByLabelText(/Place/), 'Brest');
  // It is known already, so there is no moment without a page.
  await go('winds');
  await screen.findByRole('heading', { name: 'winds' });
  expect(screen.getByLabelText<HTMLInputElement>(/Place/).value).toBe('');
});
