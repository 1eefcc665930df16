import { render, screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { ExecutionStateBuilder } from '@/executions/execution-state';
import type { ExecutionDetails, NodeUpdate } from '@/protocol';
import { FailedNodes } from './failed-nodes';

it('counts failed node executions, not failed nodes', () => {
  const builder = new ExecutionStateBuilder();
  for (const run of [1, 2, 3]) {
    builder.addNodeUpdate({
      node_exec_id: `e:${run}`,
      node_id: 'n',
      status: 'FAILED',
      error: 'Host not found.',
      output_data: {},
      cost: 0,
      at: run,
    } as unknown as NodeUpdate);
  }
  const details = { stats: { node_error_count: 0 }, failed_nodes: [] } as unknown as ExecutionDetails;
  render(
    <FailedNodes execution={details} details={details} nodes={builder.state().nodes} blocks={new Map()} />,
  );
  expect(screen.getByText('3 steps failed')).toBeTruthy();
  expect(screen.getByText('· 3 times')).toBeTruthy();
});
