import { render, screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import type { ExecutionDetails, NodeUpdate } from '@/protocol';
import { FailedNodes } from './failed-nodes';
import { RunFold } from './run-state';

it('runs that failed are counted, not the blocks that they are of', () => {
  const fold = new RunFold();
  for (const run of [1, 2, 3]) {
    fold.node({
      node_exec_id: `e:${run}`,
      node_id: 'n',
      status: 'FAILED',
      error: 'No such host.',
      output_data: {},
      cost: 0,
      at: run,
    } as unknown as NodeUpdate);
  }
  const details = { stats: { node_error_count: 0 }, failed_nodes: [] } as unknown as ExecutionDetails;
  render(<FailedNodes execution={details} details={details} nodes={fold.state().nodes} blocks={new Map()} />);
  expect(screen.getByText('3 block runs failed')).toBeTruthy();
  expect(screen.getByText('· 3 times')).toBeTruthy();
});
