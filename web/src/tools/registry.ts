// The card of every response type. A new type in the protocol fails the type check here until it has a card.

import type { ResponseType } from '@/protocol';
import { agentBuilding } from './cards/agent-building';
import { agentChecks } from './cards/agent-checks';
import { agentPlans } from './cards/agent-plans';
import { agentProgress } from './cards/agent-progress';
import { agentRuns } from './cards/agent-runs';
import { agents } from './cards/agents';
import { background } from './cards/background';
import { blocks } from './cards/blocks';
import { docs } from './cards/docs';
import { errors } from './cards/errors';
import { external } from './cards/external';
import { files } from './cards/files';
import { operations } from './cards/operations';
import { questions } from './cards/questions';
import { reviews } from './cards/reviews';
import { setup } from './cards/setup';
import { shell } from './cards/shell';
import { subSessions } from './cards/sub-sessions';
import { todos } from './cards/todos';
import { web } from './cards/web';
import type { CardKind, CardKinds } from './types';

export const CARDS = {
  ...agentBuilding,
  ...agentChecks,
  ...agentPlans,
  ...agentProgress,
  ...agentRuns,
  ...agents,
  ...background,
  ...blocks,
  ...docs,
  ...errors,
  ...external,
  ...files,
  ...operations,
  ...questions,
  ...reviews,
  ...setup,
  ...shell,
  ...subSessions,
  ...todos,
  ...web,
} satisfies CardKinds<ResponseType>;

/** A card whose response type is only known at run time. */
export type AnyCardKind = CardKind<never>;

export function kindOf(type: ResponseType): AnyCardKind;
export function kindOf(type: string): AnyCardKind | null;
export function kindOf(type: string): AnyCardKind | null {
  return Object.hasOwn(CARDS, type) ? (CARDS[type as ResponseType] as unknown as AnyCardKind) : null;
}
