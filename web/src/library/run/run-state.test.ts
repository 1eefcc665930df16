import { describe, expect, it } from 'vitest';
import type { ExecutionStatus, NodeUpdate } from '@/protocol';
import { RunFold, total } from './run-state';

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

function folded(...updates: NodeUpdate[]) {
  const fold = new RunFold();
  for (const one of updates) fold.node(one);
  const node = fold.state().nodes.get('n');
  if (!node) throw new Error('no node');
  return node;
}

describe('the events of a run', () => {
  it('count a node run once, however much is said about it', () => {
    const node = folded(
      update(0, 'QUEUED'),
      update(0, 'RUNNING'),
      update(0, undefined, { output_data: { item: [1] } }),
      update(0, 'COMPLETED', { output_data: { item: [2], key: ['a'] }, cost: 3 }),
    );
    expect(node).toMatchObject({ runs: 1, running: 0, failed: 0, status: 'COMPLETED', cost: 3 });
    expect(node.outputs.get('item')).toEqual({ total: 2, last: [1, 2] });
  });

  it('count runs that go on at the same time', () => {
    expect(folded(update(0, 'RUNNING'), update(1, 'RUNNING'), update(2, 'COMPLETED'))).toMatchObject({
      runs: 3,
      running: 2,
    });
    expect(folded(update(0, 'RUNNING'), update(1, 'RUNNING'), update(0, 'COMPLETED'))).toMatchObject({
      runs: 2,
      running: 1,
    });
  });

  it('keep the reason of a failure when later runs succeed', () => {
    expect(folded(update(0, 'FAILED', { error: 'No such host.' }), update(1, 'COMPLETED'))).toMatchObject({
      failed: 1,
      error: 'No such host.',
      status: 'COMPLETED',
    });
  });

  it('keep only the last values of a pin, and say how many there were', () => {
    const many = Array.from({ length: 200 }, (_, run) =>
      update(run, 'COMPLETED', { output_data: { item: [run] } }),
    );
    const item = folded(...many).outputs.get('item');
    expect(item?.total).toBe(200);
    expect(item?.last.length).toBe(50);
    expect(item?.last.at(-1)).toBe(199);
  });

  it('add up over all nodes', () => {
    const fold = new RunFold();
    fold.node(update(0, 'FAILED', { node_id: 'a', cost: 2 }));
    fold.node(update(1, 'FAILED', { node_id: 'a', cost: 2 }));
    fold.node(update(2, 'RUNNING', { node_id: 'b', cost: 3 }));
    const { nodes } = fold.state();
    expect([total(nodes, 'runs'), total(nodes, 'failed'), total(nodes, 'cost')]).toEqual([3, 2, 7]);
  });

  it('are folded by the hundred thousand without growing', () => {
    const fold = new RunFold();
    for (let run = 0; run < 100_000; run++) {
      fold.node(update(run, 'COMPLETED', { node_id: `n${run % 10}`, output_data: { item: [run] } }));
    }
    expect(fold.state().nodes.size).toBe(10);
    expect(fold.state().nodes.get('n0')?.runs).toBe(10_000);
  });

  it('give the same state until something changes, and do not change one that was given', () => {
    const fold = new RunFold();
    fold.node(update(0, 'RUNNING'));
    const before = fold.state();
    expect(fold.state()).toBe(before);
    fold.node(update(0, 'COMPLETED'));
    expect(before.nodes.get('n')?.status).toBe('RUNNING');
    expect(fold.state().nodes.get('n')?.status).toBe('COMPLETED');
  });
});
