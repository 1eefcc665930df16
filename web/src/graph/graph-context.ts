import { createContext } from 'react';
import type { NodeState } from '@/library/run/run-state';
import type { Blocks } from './blocks';

export type GraphContextValue = { blocks: Blocks; states: ReadonlyMap<string, NodeState> };

/** What changes while a graph is shown. It goes around the drawing, which stays as it is. */
export const GraphContext = createContext<GraphContextValue>({ blocks: new Map(), states: new Map() });
