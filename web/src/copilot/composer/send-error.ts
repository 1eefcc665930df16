// Explains why a message wasn't accepted and what to do next.

import { ApiError, errorMessage } from '@/api/problem';

export type SendError = {
  message: string;
  /** When to try again, in milliseconds of the local clock. */
  retryAt: number | null;
};

export function sendErrorOf(error: unknown, now = Date.now()): SendError {
  const retryAfter = error instanceof ApiError ? error.retryAfterSeconds : null;
  return { message: reason(error), retryAt: retryAfter ? now + retryAfter * 1000 : null };
}

function reason(error: unknown): string {
  const text = errorMessage(error);
  if (!(error instanceof ApiError)) return `Your message wasn't sent: ${text}`;
  if (error.isOffline) return `${text} Your message is saved here; send it again when you're back online.`;
  if (error.status >= 500) return `The server couldn't accept your message. ${text}`;
  return text;
}
