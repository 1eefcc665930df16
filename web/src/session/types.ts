// What a conversation is, for everything that shows one.

import type { UIMessage } from 'ai';
import type { DataParts } from '@/protocol';

/** What is known about an answer besides its parts. */
export type MessageMetadata = {
  /** From the history; absent while it streams. */
  createdAt?: string;
  durationMs?: number;
  model?: string;
  promptTokens?: number;
  completionTokens?: number;
  costMicrodollars?: number;
  /** A person has stopped it. */
  stopped?: boolean;
  /** The history's word that the turn failed, as `[code:…] words`. */
  error?: string;
  /** Whether the server thinks that the same message may succeed another time. */
  retryable?: boolean;
};

export type CopilotMessage = UIMessage<MessageMetadata, DataParts>;
export type CopilotPart = CopilotMessage['parts'][number];

/** A message that was sent while a turn is at work. */
export type FollowUpChip = {
  id: string;
  text: string;
  /** Not yet taken by the server, waiting for the next step, read by the model, or handed back. */
  state: 'sending' | 'waiting' | 'delivered' | 'returned';
};

export type Phase =
  /** The history is being read. */
  | 'loading'
  | 'ready'
  /** Sent; nothing has come yet. */
  | 'waiting'
  | 'streaming'
  /** The connection was lost in the middle of an answer and is being made again. */
  | 'reconnecting'
  | 'stopping';

/** One conversation as the page sees it. `useSession` gives it. */
export type SessionHandle = {
  /** Stays the same when a new conversation gets its id, so that nothing is mounted anew. */
  key: string;
  /** `null` until the first message is sent. */
  id: string | null;
  title: string | null;
  /** The session whose turn started this one. */
  parentId: string | null;
  messages: CopilotMessage[];
  phase: Phase;
  /** A turn is at work: what is sent now becomes a follow-up. */
  busy: boolean;
  /** The first chunk has not come after 12 s; we keep trying. */
  slow: boolean;
  /** What the turn says it is doing while it has nothing to say. */
  status: string | null;
  /** When the turn at work was begun, as far as this page knows. */
  busySince: number | null;
  /** The history cannot be read. */
  loadError: unknown;
  /** The last turn failed, or a send was refused. */
  error: { code: string | null; message: string; canRetry: boolean } | null;
  followUps: FollowUpChip[];
  /** Takes a chip away, for example because its text is in the composer again. */
  dropFollowUp: (id: string) => void;
  hasOlder: boolean;
  loadingOlder: boolean;
  loadOlder: () => void;
  /** Rejects when the server did not take it: the text then belongs back into the composer. */
  send: (text: string) => Promise<void>;
  stop: () => void;
  /** Runs the last turn again. */
  retry: () => void;
  /** Reads the history again. */
  reload: () => void;
};
