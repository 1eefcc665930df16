// Query client of the style guide: its cards make no requests, their data comes from these fixtures.

import { QueryClient, QueryClientProvider, type QueryKey } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { ApiError } from '@/api/problem';
import type { ExecutionDetails, Review, TaskView } from '@/protocol';
import { TOOLS_QUERY } from '@/tools/tools-query';
import { type CardActions, CardContext } from '@/tools/types';
import { progressOfOutput } from '@/tools/waiting/building-stages';
import { progressKey } from '@/tools/waiting/use-building-progress';
import { showToast } from '@/ui/feedback/toast';
import { TIDES } from './fixtures/building';
import { TOOLS } from './fixtures/tools';

const ACTIONS: CardActions = {
  sessionId: 'example',
  busy: false,
  send: async (text) => showToast(`In a chat, this would be sent: ${text}`),
};

export function FixtureProvider({ children }: { children: ReactNode }) {
  const [client] = useState(fixtureClient);
  return (
    <QueryClientProvider client={client}>
      <CardContext value={ACTIONS}>{children}</CardContext>
    </QueryClientProvider>
  );
}

export function fixtureClient(): QueryClient {
  const client = new QueryClient({ defaultOptions: { queries: { enabled: false, retry: false } } });
  client.setQueryData(TOOLS_QUERY.queryKey, TOOLS);
  for (const task of tasks(Date.now())) client.setQueryData(['task', task.task_id], task);
  client.setQueryData(progressKey('task-building'), progressOfOutput(BUILDING));
  for (const version of [1, 2]) client.setQueryData(['graph', TIDES.id, version], { ...TIDES, version });
  client.setQueryData(['run', RUN.id], RUN);
  client.setQueryData(['blocks'], new Map(BLOCKS.map((block) => [block.id, block])));
  for (const review of REVIEWS) client.setQueryData(['reviews', 'execution', review.graph_exec_id], [review]);
  for (const { id, ...session } of SUB_SESSIONS) client.setQueryData(['sub-session', id], session);
  setError(client, ['task', 'task-missing'], new ApiError(404, 'NOT_FOUND', 'TaskView not found.'));
  return client;
}

function setError(client: QueryClient, queryKey: QueryKey, error: ApiError): void {
  client.getQueryCache().build(client, { queryKey }).setState({ status: 'error', error });
}

function tasks(now: number): TaskView[] {
  const startedAt = (secondsAgo: number) => new Date(now - secondsAgo * 1000).toISOString();
  const common = { session_id: 'example', tool_name: 'print_chart' };
  return [
    { ...common, task_id: 'task-young', status: 'running', created_at: startedAt(4) },
    { ...common, task_id: 'task-old', status: 'running', created_at: startedAt(75) },
    {
      ...common,
      task_id: 'task-building',
      tool_name: 'create_agent',
      status: 'running',
      created_at: startedAt(12),
    },
    {
      ...common,
      task_id: 'task-building-soon',
      tool_name: 'edit_agent',
      status: 'running',
      created_at: startedAt(1),
    },
    { ...common, task_id: 'task-done', status: 'completed', created_at: startedAt(90) },
    { ...common, task_id: 'task-failed', status: 'failed', created_at: startedAt(90) },
    { ...common, task_id: 'task-cancelled', status: 'cancelled', created_at: startedAt(90) },
  ];
}

const BUILDING = {
  type: 'agent_progress',
  stage: 'writing',
  detail: 'Load the tide table, find the highest tide, warn of high water',
};

const RUN: ExecutionDetails = {
  id: '7d3f0a52-run',
  user_id: 'local',
  graph_id: '5bb58492-graph',
  graph_version: 1,
  status: 'RUNNING',
  inputs: {},
  stop_requested: false,
  event_count: 12,
  stats: { cost: 0, duration: 3.1, node_count: 4, node_error_count: 0, is_dry_run: false },
  created_at: '2026-11-16T09:30:00Z',
  started_at: new Date(Date.now() - 3_000).toISOString(),
  outputs: { total: [142.8] },
  outputs_cut: false,
  node_executions: [],
  node_total: 4,
  failed_nodes: [],
};

/** The fields of the blocks that the picture of a graph reads. */
const BLOCKS = [
  { id: 'block-input', name: 'AgentInputBlock', description: 'An input of the agent.', uiType: 'Input' },
  { id: 'block-output', name: 'AgentOutputBlock', description: 'An output of the agent.', uiType: 'Output' },
  { id: 'block-request', name: 'SendWebRequestBlock', description: 'Sends a request.', uiType: 'Standard' },
  { id: 'block-text', name: 'AITextGeneratorBlock', description: 'Asks the model.', uiType: 'AI' },
  { id: 'block-condition', name: 'ConditionBlock', description: 'Compares values.', uiType: 'Standard' },
];

const REVIEW: Review = {
  node_exec_id: 'review-1',
  user_id: 'local',
  graph_exec_id: 'copilot-session-example',
  graph_id: 'g',
  graph_version: 1,
  node_id: 'n',
  payload: { to: 'office@example.org', subject: 'Arrival', body: 'We arrive at nine.' },
  instructions: 'Send mail sends an email. Approve it to run.',
  editable: true,
  status: 'WAITING',
  was_edited: false,
  created_at: '2026-11-16T09:30:00Z',
};

const REVIEWS: Review[] = [
  REVIEW,
  {
    ...REVIEW,
    node_exec_id: 'review-2',
    graph_exec_id: '9c41e7aa-run',
    payload: { letter: 'Dear harbor office, we arrive at nine.' },
    instructions: 'Approve the letter before it is sent.',
  },
];

/** The fields of a session that its card reads. */
const SUB_SESSIONS = [
  {
    id: 'sub-7',
    chat_status: 'idle',
    messages: [{ role: 'assistant', content: 'There are **312** gulls.' }],
  },
  { id: 'sub-8', chat_status: 'idle', messages: [{ role: 'user', content: 'Count the gulls.' }] },
];
