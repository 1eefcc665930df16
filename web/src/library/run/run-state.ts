// What is known about a run, folded from its events. A run can have two million of them: what is kept grows with the
// nodes of the graph, not with the events.

import type { ExecutionMeta, ExecutionStatus, NodeUpdate } from '@/protocol';

/** One node of the graph, over all its runs. */
export type NodeState = {
  nodeId: string;
  /** Of the run of it that began last. */
  status: ExecutionStatus;
  runs: number;
  running: number;
  failed: number;
  /** Why the last one failed that did. */
  error: string | null;
  /** By pin: how many values came, and the last of them. */
  outputs: ReadonlyMap<string, Emitted>;
  cost: number;
  /** Milliseconds since 1970, of the first and the last news. */
  firstAt: number;
  lastAt: number;
};

export type Emitted = { total: number; last: readonly unknown[] };

export type RunState = {
  execution: ExecutionMeta | null;
  nodes: ReadonlyMap<string, NodeState>;
};

export const NOTHING_YET: RunState = { execution: null, nodes: new Map() };

/** The same of all nodes together, as the run itself counts it when it has ended. */
export function total(nodes: ReadonlyMap<string, NodeState>, what: 'runs' | 'failed' | 'cost'): number {
  return [...nodes.values()].reduce((sum, node) => sum + node[what], 0);
}

/** Values of one pin that are kept. */
const KEPT_VALUES = 50;
const BUSY: ReadonlySet<ExecutionStatus> = new Set(['QUEUED', 'RUNNING', 'REVIEW']);

/** Takes events as they come and gives what they amount to when asked. */
export class RunFold {
  private execution: ExecutionMeta | null = null;
  private nodes = new Map<string, NodeState>();
  /** The states of node runs that have not ended, by their id. Ended ones do not change any more. */
  private open = new Map<string, ExecutionStatus>();
  private changed = false;
  private snapshot = NOTHING_YET;

  graph(execution: ExecutionMeta): void {
    this.execution = execution;
    this.changed = true;
  }

  node(update: NodeUpdate): void {
    const before = this.nodes.get(update.node_id) ?? blank(update);
    const was = this.open.get(update.node_exec_id);
    const status = update.status ?? was ?? 'RUNNING';
    if (BUSY.has(status)) this.open.set(update.node_exec_id, status);
    else this.open.delete(update.node_exec_id);
    const failed = status === 'FAILED';
    this.nodes.set(update.node_id, {
      ...before,
      status,
      runs: before.runs + (was === undefined ? 1 : 0),
      running: before.running + Number(BUSY.has(status)) - Number(was !== undefined),
      failed: before.failed + Number(failed),
      error: update.error ?? before.error,
      outputs: withValues(before.outputs, update.output_data),
      cost: before.cost + update.cost,
      lastAt: update.at,
    });
    this.changed = true;
  }

  /** The same object as before if nothing has changed. */
  state(): RunState {
    if (this.changed) {
      this.snapshot = { execution: this.execution, nodes: new Map(this.nodes) };
      this.changed = false;
    }
    return this.snapshot;
  }
}

function blank(update: NodeUpdate): NodeState {
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
  before: ReadonlyMap<string, Emitted>,
  came: Record<string, unknown>,
): ReadonlyMap<string, Emitted> {
  const pins = Object.entries(came);
  if (pins.length === 0) return before;
  const after = new Map(before);
  for (const [pin, values] of pins) {
    const list = Array.isArray(values) ? values : [values];
    const known = after.get(pin);
    after.set(pin, {
      total: (known?.total ?? 0) + list.length,
      last: [...(known?.last ?? []), ...list].slice(-KEPT_VALUES),
    });
  }
  return after;
}
