// What a card is given, and what it can do.

import type { DynamicToolUIPart, ToolUIPart } from 'ai';
import { createContext, type ReactNode, useContext } from 'react';
import type { Response, ResponseType } from '@/protocol';

export type ToolPart = ToolUIPart | DynamicToolUIPart;

/** What a card can do in its conversation. */
export type CardActions = {
  sessionId: string | null;
  /** A turn is at work: what a card sends becomes a follow-up. */
  busy: boolean;
  send: (text: string) => Promise<void>;
};

const NOWHERE: CardActions = { sessionId: null, busy: false, send: async () => {} };
export const CardContext = createContext<CardActions>(NOWHERE);
export const useCardActions = (): CardActions => useContext(CardContext);

/** How a call stands, for the mark at the end of its row. */
export type Standing =
  /** Its input is still being written. */
  | 'preparing'
  | 'running'
  /** It goes on without holding the turn. */
  | 'background'
  /** A person has to do something. */
  | 'waiting'
  | 'done'
  | 'failed'
  /** It was cut short and has no result. */
  | 'stopped';

export type CardProps<T extends ResponseType> = {
  response: Response<T>;
  part: ToolPart;
  /** Nobody has written after it: what it asks can still be answered. */
  current: boolean;
  /** Shows an answer that this one carries, such as the result of an operation. */
  show: (output: unknown) => ReactNode;
};

/** Where a call stands in its conversation. */
export type When = {
  /** Its turn is at work: a call without a result will have one. */
  live: boolean;
  /** Nobody has written after it: what it asks can still be answered. */
  current: boolean;
};

/** One kind of answer as a card shows it. */
export type CardOf<T extends ResponseType> = (props: CardProps<T>) => ReactNode;

/** A card and what its row says. The functions are given what a tool has sent: they may throw. */
export type CardKind<T extends ResponseType> = {
  Card: CardOf<T>;
  /** Worth seeing without being asked for. */
  opens?: boolean | ((response: Response<T>) => boolean);
  /** `done` unless told otherwise. */
  standing?: (response: Response<T>, when: When) => Standing;
  /** What the row says instead of the words of its tool, where the answer knows better. */
  phrase?: (response: Response<T>) => string | null | undefined;
  /** A few words at the end of the row: how many, how much. */
  note?: (response: Response<T>) => string | null | undefined;
};

export type CardKinds<T extends ResponseType> = { [K in T]: CardKind<K> };
