// @vitest-environment happy-dom

import { expect, test } from 'vitest';
import { router } from '@/routes';
import { PAGES } from './page-list';

const AGENT = { id: 'agent', graph_id: 'graph' };
const visited = PAGES.map(
  ({ path }) => new URL(path(AGENT, 'run', 'session', 'draft'), 'http://page').pathname,
);
// The root route only redirects to the copilot.
const pages = Object.keys(router.routesByPath).filter((route) => route !== '/');

test.each(pages)('%s is visited by the accessibility tests', (route) => {
  const address = new RegExp(`^${route.replace(/\$\w+/g, '[^/]+')}$`);
  expect(visited.some((path) => address.test(path))).toBe(true);
});
