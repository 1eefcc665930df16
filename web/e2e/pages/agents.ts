// What tests prepare past the browser: agents of the marketplace and their runs.

import { call } from '../harness/call';
import type { Server } from '../harness/server';

export type Agent = { id: string; graph_id: string };

/** An example of the marketplace, in the library. */
export async function addExample(server: Server, slug: string): Promise<Agent> {
  const listing = await call<{ store_listing_version_id: string }>(
    server,
    `/store/agents/pilothouse/${slug}`,
  );
  return call(server, '/library/agents', { store_listing_version_id: listing.store_listing_version_id });
}

/** A run, as far as it goes by itself: to its end or to a question. */
export async function run(server: Server, agent: Agent, inputs: object = {}): Promise<string> {
  const { id } = await call<{ id: string }>(server, `/graphs/${agent.graph_id}/execute`, { inputs });
  await call(server, `/graphs/${agent.graph_id}/executions/${id}/wait?timeout=30`);
  return id;
}

export type RunResult = { status: string; outputs: Record<string, unknown[]> };

/** A run once it is over. */
export async function ended(server: Server, agent: Agent, id: string): Promise<RunResult> {
  await call(server, `/graphs/${agent.graph_id}/executions/${id}/wait?timeout=30`);
  return call(server, `/executions/${id}`);
}

/** Decides whatever earlier tests have left, so that nothing waits any more. */
export async function rejectAll(server: Server): Promise<void> {
  const waiting = await call<{ node_exec_id: string }[]>(server, '/review/pending?page_size=100');
  for (const { node_exec_id } of waiting)
    await call(server, '/review/action', { reviews: [{ node_exec_id, approved: false }] });
}
