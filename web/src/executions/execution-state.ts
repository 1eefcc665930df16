// State of a run, accumulated from its events. A run can have two million events: the state grows with the number of
// nodes in the graph, not with the number of events.

import type { ExecutionMeta, ExecutionStatus, NodeUpdate } from '@/protocol';

/** State of one node, over all its executions. */
export type NodeState = {
  nodeId: string;
  /** Status of its latest execution. */
  status: ExecutionStatus;
  runs: number;
  running: number;
  failed: number;
  /** Error of the latest failed execution. */
  error: string | null;
  /** By pin: the number of values, and the latest of them. */
  outputs: ReadonlyMap<string, PinValues>;
  cost: number;
  /** Time of the first and the last event, in milliseconds since 1970. */
  firstAt: number;
  lastAt: number;
};

export type PinValues = { total: number; last: readonly unknown[] };

export type ExecutionState = {
  execution: ExecutionMeta | null;
  nodes: ReadonlyMap<string, NodeState>;
};

export const EMPTY_EXECUTION: ExecutionState = { execution: null, nodes: new Map() };

/** Sum of a counter over all nodes. The run has the same number once it has ended. */
export function total(nodes: ReadonlyMap<string, NodeState>, counter: 'runs' | 'failed' | 'cost'): number {
  return [...nodes.values()].reduce((sum, node) => sum + node[counter], 0);
}

/** Number of values kept for each pin. */
const MAX_VALUES = 50;
const UNFINISHED: ReadonlySet<ExecutionStatus> = new Set(['QUEUED', 'RUNNING', 'REVIEW']);

/** Accumulates events and returns snapshots of the state. */
export class ExecutionStateBuilder {
  private execution: ExecutionMeta | null = null;
  private nodes = new Map<string, NodeState>();
  /** Status of unfinished node executions, by id. Finished ones do not change. */
  private open = new Map<string, ExecutionStatus>();
  private changed = false;
  private snapshot = EMPTY_EXECUTION;

  setExecution(execution: ExecutionMeta): void {
    this.execution = execution;
    this.changed = true;
  }

  addNodeUpdate(update: NodeUpdate): void {
    const before = this.nodes.get(update.node_id) ?? emptyNode(update);
    const previous = this.open.get(update.node_exec_id);
    const status = update.status ?? previous ?? 'RUNNING';
    if (UNFINISHED.has(status)) this.open.set(update.node_exec_id, status);
    else this.open.delete(update.node_exec_id);
    const failed = status === 'FAILED';
    this.nodes.set(update.node_id, {
      ...before,
      status,
      runs: before.runs + (previous === undefined ? 1 : 0),
      running: before.running + Number(UNFINISHED.has(status)) - Number(previous !== undefined),
      failed: before.failed + Number(failed),
      error: update.error ?? before.error,
      outputs: withValues(before.outputs, update.output_data),
      cost: before.cost + update.cost,
      lastAt: update.at,
    });
    this.changed = true;
  }

  /** Returns the same object until something changes. */
  state(): ExecutionState {
    if (this.changed) {
      this.snapshot = { execution: this.execution, nodes: new Map(this.nodes) };
      this.changed = false;
    }
    return this.snapshot;
  }
}

function emptyNode(update: NodeUpdate): NodeState {
  return {
    nodeId: update.node_id,
    status: 'RUNNING',
    runs: 0,
    running: 0,
    failed: 0,
    error: null,
    outputs: new Map(),
    cost: 0,
    firstAt: update.at,
    lastAt: update.at,
  };
}

function withValues(
  before: ReadonlyMap<string, PinValues>,
  added: Record<string, unknown>,
): ReadonlyMap<string, PinValues> {
  const pins = Object.entries(added);
  if (pins.length === 0) return before;
  const after = new Map(before);
  for (const [pin, values] of pins) {
    const list = Array.isArray(values) ? values : [values];
    const known = after.get(pin);
    after.set(pin, {
      total: (known?.total ?? 0) + list.length,
      last: [...(known?.last ?? []), ...list].slice(-MAX_VALUES),
    });
  }
  return after;
}
