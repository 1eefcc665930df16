// @vitest-environment happy-dom

import { expect, test } from 'vitest';
import { router } from '@/routes';
import { PLACES } from './places';

const AGENT = { id: 'agent', graph_id: 'graph' };
const walked = PLACES.map(({ path }) => new URL(path(AGENT, 'run', 'session'), 'http://page').pathname);
// The bare address only leads to the copilot.
const pages = Object.keys(router.routesByPath).filter((route) => route !== '/');

test.each(pages)('%s is one of the pages that are walked through', (route) => {
  const address = new RegExp(`^${route.replace(/\$\w+/g, '[^/]+')}$`);
  expect(walked.some((path) => address.test(path))).toBe(true);
});
