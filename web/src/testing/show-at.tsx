import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { freshCache, show } from './fake-server';

type ShownPage = {
  /** As in the app's routes: `/library/agents/$id`. */
  path: string;
  address: string;
  component: () => ReactNode;
  /** Rendered beside the page, whatever its URL. */
  beside?: ReactNode;
};

/** Renders one page at a URL, for components that read or change the URL. */
export function showAt({ path, address, component, beside }: ShownPage) {
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
      {/* Links are typed for the app's router, which is the registered one. */}
      <RouterProvider router={router as never} />
      {beside}
    </>,
    client,
  );
  return { router, client };
}
