// A fake server for component tests.

import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render } from '@testing-library/react';
import type { ReactNode } from 'react';
import { vi } from 'vitest';

/** A received request, with its body parsed. */
export type ReceivedRequest = { route: string; query: URLSearchParams; headers: Headers; body: unknown };
/** Returns data for a 200 response, or a whole `Response`. */
type RouteHandler = (request: ReceivedRequest) => unknown;

/** Serves routes such as `GET /api/…`; others are not found. Returns the list of received requests, which grows. */
export function serve(routes: Record<string, RouteHandler>): ReceivedRequest[] {
  const all: ReceivedRequest[] = [];
  vi.stubGlobal('fetch', async (request: Request) => {
    const url = new URL(request.url);
    const route = `${request.method} ${url.pathname}`;
    const text = await request.text();
    const received = {
      route,
      query: url.searchParams,
      headers: request.headers,
      body: text ? JSON.parse(text) : undefined,
    };
    all.push(received);
    const handler = routes[route] ?? (() => refusal(404, 'NOT_FOUND', 'Not found.'));
    const result = await handler(received);
    return result instanceof Response ? result : Response.json(result);
  });
  return all;
}

export function refusal(status: number, code: string, detail: string): Response {
  return Response.json({ detail, code }, { status });
}

/** Fails as if the server were unreachable. */
export function noConnection(): never {
  throw new TypeError('Failed to fetch');
}

/** Renders with a query cache of its own that never retries. */
export function show(element: ReactNode, client = freshCache()) {
  return render(<QueryClientProvider client={client}>{element}</QueryClientProvider>);
}

export function freshCache(): QueryClient {
  return new QueryClient({ defaultOptions: { queries: { retry: false } } });
}
