import { describe, expect, it } from 'vitest';
import type { ExecutionStatus, NodeUpdate } from '@/protocol';
import { ExecutionStateBuilder, total } from './execution-state';

let at = 0;
function update(
  run: number,
  status: ExecutionStatus | undefined,
  more: Partial<NodeUpdate> = {},
): NodeUpdate {
  return {
    event_type: 'node_execution_update',
    graph_id: 'g',
    graph_version: 1,
    graph_exec_id: 'e',
    node_exec_id: `e:${run}`,
    node_id: 'n',
    status,
    output_data: {},
    cost: 0,
    at: ++at,
    ...more,
  };
}

function stateAfter(...updates: NodeUpdate[]) {
  const builder = new ExecutionStateBuilder();
  for (const one of updates) builder.addNodeUpdate(one);
  const node = builder.state().nodes.get('n');
  if (!node) throw new Error('no node');
  return node;
}

describe('ExecutionStateBuilder', () => {
  it('counts a node execution once, however many events it has', () => {
    const node = stateAfter(
      update(0, 'QUEUED'),
      update(0, 'RUNNING'),
      update(0, undefined, { output_data: { item: [1] } }),
      update(0, 'COMPLETED', { output_data: { item: [2], key: ['a'] }, cost: 3 }),
    );
    expect(node).toMatchObject({ runs: 1, running: 0, failed: 0, status: 'COMPLETED', cost: 3 });
    expect(node.outputs.get('item')).toEqual({ total: 2, last: [1, 2] });
  });

  it('counts concurrent node executions', () => {
    expect(stateAfter(update(0, 'RUNNING'), update(1, 'RUNNING'), update(2, 'COMPLETED'))).toMatchObject({
      runs: 3,
      running: 2,
    });
    expect(stateAfter(update(0, 'RUNNING'), update(1, 'RUNNING'), update(0, 'COMPLETED'))).toMatchObject({
      runs: 2,
      running: 1,
    });
  });

  it('keeps the error of a failure when later executions succeed', () => {
    expect(
      stateAfter(update(0, 'FAILED', { error: 'Host not found.' }), update(1, 'COMPLETED')),
    ).toMatchObject({
      failed: 1,
      error: 'Host not found.',
      status: 'COMPLETED',
    });
  });

  it('keeps only the latest values of a pin, and their total count', () => {
    const many = Array.from({ length: 200 }, (_, run) =>
      update(run, 'COMPLETED', { output_data: { item: [run] } }),
    );
    const item = stateAfter(...many).outputs.get('item');
    expect(item?.total).toBe(200);
    expect(item?.last.length).toBe(50);
    expect(item?.last.at(-1)).toBe(199);
  });

  it('sums counters over all nodes', () => {
    const builder = new ExecutionStateBuilder();
    builder.addNodeUpdate(update(0, 'FAILED', { node_id: 'a', cost: 2 }));
    builder.addNodeUpdate(update(1, 'FAILED', { node_id: 'a', cost: 2 }));
    builder.addNodeUpdate(update(2, 'RUNNING', { node_id: 'b', cost: 3 }));
    const { nodes } = builder.state();
    expect([total(nodes, 'runs'), total(nodes, 'failed'), total(nodes, 'cost')]).toEqual([3, 2, 7]);
  });

  it('does not grow with 100,000 events', () => {
    const builder = new ExecutionStateBuilder();
    for (let run = 0; run < 100_000; run++) {
      builder.addNodeUpdate(
        update(run, 'COMPLETED', { node_id: `n${run % 10}`, output_data: { item: [run] } }),
      );
    }
    expect(builder.state().nodes.size).toBe(10);
    expect(builder.state().nodes.get('n0')?.runs).toBe(10_000);
  });

  it('returns the same state until something changes, and never mutates a returned state', () => {
    const builder = new ExecutionStateBuilder();
    builder.addNodeUpdate(update(0, 'RUNNING'));
    const before = builder.state();
    expect(builder.state()).toBe(before);
    builder.addNodeUpdate(update(0, 'COMPLETED'));
    expect(before.nodes.get('n')?.status).toBe('RUNNING');
    expect(builder.state().nodes.get('n')?.status).toBe('COMPLETED');
  });
});
