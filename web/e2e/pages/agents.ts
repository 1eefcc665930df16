// Test setup through the API: marketplace agents and their runs.

import { call } from '../harness/call';
import type { Server } from '../harness/server';

export type Agent = { id: string; graph_id: string };

/** Adds an example from the marketplace to the library. */
export async function addExample(server: Server, slug: string): Promise<Agent> {
  const listing = await call<{ store_listing_version_id: string }>(
    server,
    `/store/agents/pilothouse/${slug}`,
  );
  return call(server, '/library/agents', { store_listing_version_id: listing.store_listing_version_id });
}

/** Starts a run and waits until it ends or needs a review. */
export async function run(server: Server, agent: Agent, inputs: object = {}): Promise<string> {
  const { id } = await call<{ id: string }>(server, `/graphs/${agent.graph_id}/execute`, { inputs });
  await call(server, `/graphs/${agent.graph_id}/executions/${id}/wait?timeout=30`);
  return id;
}

export type RunResult = { status: string; outputs: Record<string, unknown[]> };

/** Waits for the end of a run and returns it. */
export async function ended(server: Server, agent: Agent, id: string): Promise<RunResult> {
  await call(server, `/graphs/${agent.graph_id}/executions/${id}/wait?timeout=30`);
  return call(server, `/executions/${id}`);
}

/** Rejects all pending reviews of earlier tests. */
export async function rejectAll(server: Server): Promise<void> {
  const waiting = await call<{ node_exec_id: string }[]>(server, '/review/pending?page_size=100');
  for (const { node_exec_id } of waiting)
    await call(server, '/review/action', { reviews: [{ node_exec_id, approved: false }] });
}
