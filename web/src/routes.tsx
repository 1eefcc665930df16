// Every page and its address. Each is loaded when it is first opened; the copilot comes with the first load.

import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { BASE_PATH } from './api/base';
import { CopilotPage } from './copilot/page';
import { Broken, NotFound } from './shell/mishaps';
import { Shell } from './shell/shell';

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound, errorComponent: Broken });

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
    sessionId: word(search.sessionId),
    prompt: word(search.prompt),
  }),
  component: CopilotPage,
});

const library = createRoute({
  getParentRoute: () => root,
  path: '/library',
  validateSearch: (search): { q?: string; folder?: string; sort?: string } => ({
    q: word(search.q),
    folder: word(search.folder),
    sort: word(search.sort),
  }),
  component: lazyRouteComponent(() => import('./library/page'), 'LibraryPage'),
});

const agent = createRoute({
  getParentRoute: () => root,
  path: '/library/agents/$id',
  validateSearch: (search): { activeTab?: string; activeItem?: string } => ({
    activeTab: word(search.activeTab),
    activeItem: word(search.activeItem),
  }),
  component: lazyRouteComponent(() => import('./library/agent-page'), 'AgentPage'),
});

const marketplace = createRoute({
  getParentRoute: () => root,
  path: '/marketplace',
  validateSearch: (search): { q?: string; category?: string; creator?: string } => ({
    q: word(search.q),
    category: word(search.category),
    creator: word(search.creator),
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
  validateSearch: (search): { flowID?: string; flowVersion?: number } => ({
    flowID: word(search.flowID),
    flowVersion: Number(search.flowVersion) || undefined,
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

/** A value of the address as text. The router reads what looks like a number as one. */
function word(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) || undefined : undefined;
}
