// Types of tool cards: their props, their actions and their entry in the registry.

import type { DynamicToolUIPart, ToolUIPart } from 'ai';
import { createContext, type ReactNode, useContext } from 'react';
import type { Response, ResponseType } from '@/protocol';
import type { LabelsFor } from './tool-labels';

export type ToolPart = ToolUIPart | DynamicToolUIPart;

/** What a card can do in its chat. */
export type CardActions = {
  sessionId: string | null;
  /** A turn is running, so a message sent by a card becomes a follow-up. */
  busy: boolean;
  send: (text: string) => Promise<void>;
};

const NO_ACTIONS: CardActions = { sessionId: null, busy: false, send: async () => {} };
export const CardContext = createContext<CardActions>(NO_ACTIONS);
export const useCardActions = (): CardActions => useContext(CardContext);

/** Status of a call, shown as an icon at the end of its row. */
export type CallStatus =
  /** The model is still writing its input. */
  | 'preparing'
  | 'running'
  /** It continues without blocking the turn. */
  | 'background'
  /** It needs an answer or a decision from the user. */
  | 'waiting'
  | 'done'
  | 'failed'
  /** It was interrupted and has no result. */
  | 'stopped';

export type CardProps<T extends ResponseType> = {
  response: Response<T>;
  part: ToolPart;
  /** No user message follows the call, so its questions can still be answered. */
  current: boolean;
  /** Renders a nested response, such as the result of an operation. */
  show: (output: unknown) => ReactNode;
};

/** Position of a call in its chat. */
export type CallContext = {
  /** Its turn is running, so a call without a result will still get one. */
  live: boolean;
  /** No user message follows the call, so its questions can still be answered. */
  current: boolean;
};

/** The card component of one response type. */
export type CardOf<T extends ResponseType> = (props: CardProps<T>) => ReactNode;

/** A card and the text of its row. The functions receive untrusted tool output and may throw. */
export type CardKind<T extends ResponseType> = {
  Card: CardOf<T>;
  /** Whether the card is open by default. */
  opens?: boolean | ((response: Response<T>) => boolean);
  /** Defaults to `done`. */
  status?: (response: Response<T>, context: CallContext) => CallStatus;
  /** Replaces the verb and object of the tool in the row, where the response is more specific. */
  phrase?: (response: Response<T>, labelsFor: LabelsFor, tool: string) => string | null | undefined;
  /** Short text at the end of the row, such as a count or a size. */
  note?: (response: Response<T>) => string | null | undefined;
};

export type CardKinds<T extends ResponseType> = { [K in T]: CardKind<K> };
