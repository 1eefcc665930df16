import { createContext } from 'react';
import type { NodeState } from '@/executions/execution-state';
import type { Blocks } from './blocks';
import { type GraphProblems, NO_PROBLEMS } from './problems/node-problems';

export type GraphContextValue = {
  blocks: Blocks;
  states: ReadonlyMap<string, NodeState>;
  /** The run has ended: nodes without a state were not reached. */
  hasEnded: boolean;
  problems: GraphProblems;
};

/** Data that changes while a graph is shown. Passed by context, so that the nodes of the drawing stay the same. */
export const GraphContext = createContext<GraphContextValue>({
  blocks: new Map(),
  states: new Map(),
  hasEnded: false,
  problems: NO_PROBLEMS,
});
