// A server that a test writes down, for components that ask one.

import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render } from '@testing-library/react';
import type { ReactNode } from 'react';
import { vi } from 'vitest';

/** What was asked, the body as the server would read it. */
export type Asked = { route: string; query: URLSearchParams; headers: Headers; body: unknown };
/** Data for 200, or a whole response. */
type Answer = (asked: Asked) => unknown;

/** Answers `GET /api/…` and the like by the path; what is not written down is not found. Gives what was asked so far. */
export function serve(routes: Record<string, Answer>): Asked[] {
  const all: Asked[] = [];
  vi.stubGlobal('fetch', async (request: Request) => {
    const url = new URL(request.url);
    const route = `${request.method} ${url.pathname}`;
    const text = await request.text();
    const asked = {
      route,
      query: url.searchParams,
      headers: request.headers,
      body: text ? JSON.parse(text) : undefined,
    };
    all.push(asked);
    const answer = routes[route] ?? (() => refusal(404, 'NOT_FOUND', 'There is nothing here.'));
    const given = await answer(asked);
    return given instanceof Response ? given : Response.json(given);
  });
  return all;
}

export function refusal(status: number, code: string, detail: string): Response {
  return Response.json({ detail, code }, { status });
}

/** The server is away. */
export function noConnection(): never {
  throw new TypeError('Failed to fetch');
}

/** Shows it with a cache of its own that never tries again by itself. */
export function show(element: ReactNode, client = freshCache()) {
  return render(<QueryClientProvider client={client}>{element}</QueryClientProvider>);
}

export function freshCache(): QueryClient {
  return new QueryClient({ defaultOptions: { queries: { retry: false } } });
}
