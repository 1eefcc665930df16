// Test setup through the API: agents written as specs, and drafts of them.

import { requestJson } from '../harness/requests';
import type { Server } from '../harness/server';

export const TIDES = `
name: Morning tides
inputs:
  harbor: {type: string, default: Vlissingen}
  height: number
steps:
  high: {block: Calculator, operation: Add, a: inputs.height, b: 1, round_result: true}
  check: {block: Condition, value1: high.result, operator: ">", value2: 3, yes_value: "Alarm in {{harbor}}"}
outputs:
  report: "{{harbor}}: {{high.result}} m"
  alarm: check.yes_output
`;

type Link = { source_name: string; sink_name: string };
type Graph = { id: string; version: number; name: string; nodes: unknown[]; links: Link[] };

/** Saves an agent and returns its id. */
export async function createAgent(server: Server, spec = TIDES): Promise<string> {
  const { id } = await requestJson<{ id: string }>(server, '/graphs', { spec });
  return id;
}

/** Saves a new version of an agent from its changed spec, as another program would. */
export async function changeSpec(
  server: Server,
  id: string,
  change: (spec: string) => string,
): Promise<void> {
  const { spec } = await requestJson<{ spec: string }>(server, '/agents/decompile', { graph_id: id });
  await put(server, `/graphs/${id}`, { spec: change(spec) });
}

/** Saves a draft in which a link begins at an output that does not exist, and returns its version. */
export async function breakLink(server: Server, id: string): Promise<number> {
  const graph = await requestJson<Graph>(server, `/graphs/${id}`);
  const links = graph.links.map((link) =>
    link.sink_name === 'value1' ? { ...link, source_name: 'reslt' } : link,
  );
  const draft = await put(server, `/graphs/${id}?draft=true`, { ...graph, links });
  return draft.version;
}

async function put(server: Server, path: string, body: unknown): Promise<Graph> {
  const response = await fetch(`${server.url}/api${path}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json() as Promise<Graph>;
}
