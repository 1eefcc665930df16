// The types of a session as the page shows it.

import type { UIMessage } from 'ai';
import type { DataParts } from '@/protocol';

/** Data about a response besides its parts. */
export type MessageMetadata = {
  /** From the history; absent while streaming. */
  createdAt?: string;
  durationMs?: number;
  model?: string;
  promptTokens?: number;
  completionTokens?: number;
  costMicrodollars?: number;
  /** The user stopped it. */
  stopped?: boolean;
  /** The failure recorded in the history, as `[code:…] message`. */
  error?: string;
  /** Whether the server considers a retry worthwhile. */
  retryable?: boolean;
};

export type CopilotMessage = UIMessage<MessageMetadata, DataParts>;
export type CopilotPart = CopilotMessage['parts'][number];

/** A message that was sent while a turn runs. */
export type FollowUpChip = {
  id: string;
  text: string;
  /** Not accepted by the server yet, waiting for the next step, received by the model, or returned unread. */
  state: 'sending' | 'waiting' | 'delivered' | 'returned';
};

export type Phase =
  /** The history is being read. */
  | 'loading'
  | 'ready'
  /** Sent; no chunk has arrived yet. */
  | 'waiting'
  | 'streaming'
  /** The connection was lost during a response and is being restored. */
  | 'reconnecting'
  | 'stopping';

/** One session as the page sees it, returned by `useSession`. */
export type SessionHandle = {
  /** Stays the same when a new chat gets its session id, so that nothing is remounted. */
  key: string;
  /** `null` until the first message is sent. */
  id: string | null;
  title: string | null;
  /** The session that started this sub-session. */
  parentId: string | null;
  messages: CopilotMessage[];
  phase: Phase;
  /** A turn is running: a message sent now becomes a follow-up. */
  busy: boolean;
  /** No chunk has arrived within 12 s; we are still waiting. */
  slow: boolean;
  /** The status the turn reports while it produces no output. */
  status: string | null;
  /** When the running turn started, as far as this page knows. */
  busySince: number | null;
  /** Why the history can't be read. */
  loadError: unknown;
  /** The last turn failed, or a send was refused. */
  error: { code: string | null; message: string; canRetry: boolean } | null;
  followUps: FollowUpChip[];
  /** Removes a chip, for example because its text is back in the composer. */
  dropFollowUp: (id: string) => void;
  hasOlder: boolean;
  loadingOlder: boolean;
  loadOlder: () => void;
  /** Rejects when the server didn't accept the message; the text should then go back into the composer. */
  send: (text: string) => Promise<void>;
  stop: () => void;
  /** Regenerates the last response. */
  retry: () => void;
  /** Reads the history again. */
  reload: () => void;
};
