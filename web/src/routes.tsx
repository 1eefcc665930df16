// Every page and its URL. Pages are loaded when they are first opened; the copilot comes with the first load.

import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { BASE_PATH } from './api/base';
import { CopilotPage } from './copilot/page';
import { CrashedPage, NotFoundPage } from './shell/error-pages';
import { Shell } from './shell/shell';

const root = createRootRoute({
  component: Shell,
  notFoundComponent: NotFoundPage,
  errorComponent: CrashedPage,
});

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/copilot' });
  },
});

const copilot = createRoute({
  getParentRoute: () => root,
  path: '/copilot',
  validateSearch: (search): { sessionId?: string; prompt?: string } => ({
    sessionId: textParam(search.sessionId),
    prompt: textParam(search.prompt),
  }),
  component: CopilotPage,
});

const library = createRoute({
  getParentRoute: () => root,
  path: '/library',
  validateSearch: (search): { q?: string; folder?: string; sort?: string } => ({
    q: textParam(search.q),
    folder: textParam(search.folder),
    sort: textParam(search.sort),
  }),
  component: lazyRouteComponent(() => import('./library/page'), 'LibraryPage'),
});

const agent = createRoute({
  getParentRoute: () => root,
  path: '/library/agents/$id',
  validateSearch: (search): { activeTab?: string; activeItem?: string } => ({
    activeTab: textParam(search.activeTab),
    activeItem: textParam(search.activeItem),
  }),
  component: lazyRouteComponent(() => import('./library/agent-page'), 'AgentPage'),
});

const marketplace = createRoute({
  getParentRoute: () => root,
  path: '/marketplace',
  validateSearch: (search): { q?: string; category?: string; creator?: string } => ({
    q: textParam(search.q),
    category: textParam(search.category),
    creator: textParam(search.creator),
  }),
  component: lazyRouteComponent(() => import('./marketplace/page'), 'MarketplacePage'),
});

const listing = createRoute({
  getParentRoute: () => root,
  path: '/marketplace/agent/$creator/$slug',
  component: lazyRouteComponent(() => import('./marketplace/listing-page'), 'ListingPage'),
});

const build = createRoute({
  getParentRoute: () => root,
  path: '/build',
  validateSearch: (search): { flowID?: string; flowVersion?: number; tab?: string } => ({
    flowID: textParam(search.flowID),
    flowVersion: Number(search.flowVersion) || undefined,
    tab: textParam(search.tab),
  }),
  component: lazyRouteComponent(() => import('./graph/build-page'), 'BuildPage'),
});

const reviews = createRoute({
  getParentRoute: () => root,
  path: '/reviews',
  component: lazyRouteComponent(() => import('./reviews/page'), 'ReviewsPage'),
});

const settings = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  component: lazyRouteComponent(() => import('./settings/page'), 'SettingsPage'),
});

const styleguide = createRoute({
  getParentRoute: () => root,
  path: '/styleguide',
  component: lazyRouteComponent(() => import('./styleguide/page'), 'StyleguidePage'),
});

const ops = createRoute({
  getParentRoute: () => root,
  path: '/ops',
  component: lazyRouteComponent(() => import('./ops/page'), 'OpsPage'),
});

export const router = createRouter({
  basepath: BASE_PATH,
  routeTree: root.addChildren([
    home,
    copilot,
    library,
    agent,
    marketplace,
    listing,
    build,
    reviews,
    settings,
    styleguide,
    ops,
  ]),
  defaultPreload: 'intent',
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

/** A search parameter as text. The router parses values that look like numbers. */
function textParam(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) || undefined : undefined;
}
