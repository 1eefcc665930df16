// Why a message was not taken, in words that say what to do.

import { ApiError, wordsOf } from '@/api/problem';

export type Refusal = {
  words: string;
  /** When it is worth trying again, in milliseconds of this clock. */
  retryAt: number | null;
};

export function refusalOf(error: unknown, now = Date.now()): Refusal {
  const retryAfter = error instanceof ApiError ? error.retryAfterSeconds : null;
  return { words: reason(error), retryAt: retryAfter ? now + retryAfter * 1000 : null };
}

function reason(error: unknown): string {
  const words = wordsOf(error);
  if (!(error instanceof ApiError)) return `The message was not sent: ${words}`;
  if (error.isOffline) return `${words} Your message is kept here; send it again when you are back.`;
  if (error.status >= 500) return `The server could not take the message. ${words}`;
  return words;
}
