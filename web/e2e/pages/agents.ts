// Test setup through the API: marketplace agents and their runs.

import { requestJson } from '../harness/requests';
import type { Server } from '../harness/server';

export type Agent = { id: string; graph_id: string };

/** Adds an example from the marketplace to the library. */
export async function addExample(server: Server, slug: string): Promise<Agent> {
  const listing = await requestJson<{ store_listing_version_id: string }>(
    server,
    `/store/agents/pilothouse/${slug}`,
  );
  return requestJson(server, '/library/agents', {
    store_listing_version_id: listing.store_listing_version_id,
  });
}

/** Starts a run and waits until it ends or needs a review. */
export async function run(server: Server, agent: Agent, inputs: object = {}): Promise<string> {
  const { id } = await requestJson<{ id: string }>(server, `/graphs/${agent.graph_id}/execute`, { inputs });
  await requestJson(server, `/graphs/${agent.graph_id}/executions/${id}/wait?timeout=30`);
  return id;
}

export type RunResult = { status: string; outputs: Record<string, unknown[]> };

/** Waits for the end of a run and returns it. */
export async function ended(server: Server, agent: Agent, id: string): Promise<RunResult> {
  await requestJson(server, `/graphs/${agent.graph_id}/executions/${id}/wait?timeout=30`);
  return requestJson(server, `/executions/${id}`);
}

/** Rejects all pending reviews of earlier tests. */
export async function rejectAll(server: Server): Promise<void> {
  const waiting = await requestJson<{ node_exec_id: string }[]>(server, '/review/pending?page_size=100');
  for (const { node_exec_id } of waiting)
    await requestJson(server, '/review/action', { reviews: [{ node_exec_id, approved: false }] });
}
