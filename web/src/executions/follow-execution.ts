// Follows a run over its event stream until it ends.

import { followEvents } from '@/api/follow-events';
import type { ExecutionMeta, NodeUpdate } from '@/protocol';

export type ExecutionListener = {
  onNode: (update: NodeUpdate) => void;
  onExecution: (execution: ExecutionMeta) => void;
  onConnection: (connected: boolean) => void;
};

/** Resolves when the run has ended; rejects if it cannot be followed. */
export function followExecution(
  graphId: string,
  executionId: string,
  { onNode, onExecution, onConnection }: ExecutionListener,
  signal: AbortSignal,
): Promise<void> {
  return followEvents(
    `/api/graphs/${encodeURIComponent(graphId)}/executions/${encodeURIComponent(executionId)}/stream`,
    {
      onEvent: ({ name, data }) => {
        if (name === 'node_execution_event') onNode(JSON.parse(data));
        if (name === 'graph_execution_event') onExecution(JSON.parse(data));
      },
      onConnection,
    },
    signal,
  );
}
