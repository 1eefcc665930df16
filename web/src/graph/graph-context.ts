import { createContext } from 'react';
import type { NodeState } from '@/executions/execution-state';
import type { Blocks } from './blocks';

export type GraphContextValue = { blocks: Blocks; states: ReadonlyMap<string, NodeState> };

/** Data that changes while a graph is shown. Passed by context, so that the nodes of the drawing stay the same. */
export const GraphContext = createContext<GraphContextValue>({ blocks: new Map(), states: new Map() });
