// Follow-ups: messages that are sent while a turn runs, and their delivery state.

import { ApiError } from '@/api/problem';
import { isTransientError } from '@/api/queries';
import { retryDelay, retryDelayMs } from '@/api/retry-delay';
import type { Store } from '@/lib/store';
import type { DrainedMessage, FollowUpView } from '@/protocol';
import { readFollowUps, sendFollowUp } from './session-requests';
import { isBusy, type SessionState } from './state';
import type { FollowUpChip } from './types';

const ATTEMPTS = 5;

export class FollowUps {
  /** Ids of the follow-ups the user has dismissed. */
  private readonly dropped = new Set<string>();

  constructor(private readonly store: Store<SessionState>) {}

  /** Resolves to `true` when the running turn accepted it, and to `false` when no turn is running any more. */
  async send(session: string, id: string, text: string): Promise<boolean> {
    this.put(id, text, 'sending');
    try {
      await this.sendWithRetry(() => sendFollowUp(session, id, text));
      // It may have been delivered, and its chip removed, before the response arrived.
      if (this.chips.some((chip) => chip.id === id)) this.put(id, text, 'waiting');
      return true;
    } catch (error) {
      this.remove([{ id }]);
      if (error instanceof ApiError && error.code === 'NO_ACTIVE_TURN') return false;
      throw error;
    }
  }

  /** The model has received these; they are part of the transcript now. */
  delivered(messages: readonly DrainedMessage[]): void {
    this.remove(messages);
  }

  /** A newer message was sent: returned follow-ups are no longer offered. */
  dropReturned(): void {
    for (const { id, state } of this.chips) if (state === 'returned') this.drop(id);
  }

  drop(id: string): void {
    this.dropped.add(id);
    this.remove([{ id }]);
  }

  /** Reads the state of the follow-ups from the server. */
  async read(session: string, latestTurn: string | null, signal: AbortSignal): Promise<void> {
    const listed = await readFollowUps(session, signal);
    this.store.patch({ followUps: reconciled(this.chips, listed, latestTurn, this.dropped) });
  }

  private get chips(): FollowUpChip[] {
    return this.store.get().followUps;
  }

  /** Retries are safe: the server deduplicates by message id. */
  private async sendWithRetry(send: () => Promise<void>): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await send();
      } catch (error) {
        if (!isTransientError(error) || attempt === ATTEMPTS || !isBusy(this.store.get().phase)) throw error;
        await retryDelay(retryDelayMs(attempt - 1), new AbortController().signal);
      }
    }
  }

  private put(id: string, text: string, state: 'sending' | 'waiting'): void {
    const chip: FollowUpChip = { id, text, state };
    const known = this.chips.some((one) => one.id === id);
    const followUps = known ? this.chips.map((one) => (one.id === id ? chip : one)) : [...this.chips, chip];
    this.store.patch({ followUps });
  }

  private remove(gone: readonly { id: string }[]): void {
    const ids = new Set(gone.map((one) => one.id));
    if (!this.chips.some((chip) => ids.has(chip.id))) return;
    this.store.patch({ followUps: this.chips.filter((chip) => !ids.has(chip.id)) });
  }
}

/**
 * Merges the chips with the server's list. A returned follow-up is offered until a newer message is sent, so only
 * those of the latest turn count, and those this page has shown as waiting.
 */
export function reconciled(
  chips: readonly FollowUpChip[],
  listed: readonly FollowUpView[],
  latestTurn: string | null,
  dropped: ReadonlySet<string>,
): FollowUpChip[] {
  const known = new Set(listed.map((one) => one.id));
  const before = new Set(chips.map((chip) => chip.id));
  const unsent = chips.filter((chip) => chip.state === 'sending' && !known.has(chip.id));
  const waiting: FollowUpChip[] = [];
  for (const { id, message, state, turn_id } of listed) {
    if (state === 'pending') waiting.push({ id, text: message, state: 'waiting' });
    else if (state !== 'delivered' && !dropped.has(id) && (turn_id === latestTurn || before.has(id))) {
      waiting.push({ id, text: message, state: 'returned' });
    }
  }
  return [...waiting, ...unsent];
}
