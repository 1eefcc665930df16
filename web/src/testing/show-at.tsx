import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { freshCache, show } from './fake-server';

type Place = {
  /** As in the routes of the page: `/library/agents/$id`. */
  path: string;
  address: string;
  component: () => ReactNode;
  /** What stands beside the page, whatever its address. */
  beside?: ReactNode;
};

/** Shows one page at its address, for what reads the address or changes it. */
export function showAt({ path, address, component, beside }: Place) {
  const root = createRootRoute();
  const page = createRoute({
    getParentRoute: () => root,
    path,
    validateSearch: (search): Record<string, unknown> => search,
    component,
  });
  const router = createRouter({
    routeTree: root.addChildren([page]),
    history: createMemoryHistory({ initialEntries: [address] }),
  });
  const client = freshCache();
  show(
    <>
      {/* Links belong to the router of the app, whose type is the registered one. */}
      <RouterProvider router={router as never} />
      {beside}
    </>,
    client,
  );
  return { router, client };
}
