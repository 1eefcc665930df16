// Messages that are sent while a turn is at work, and what becomes of them.

import { ApiError } from '@/api/problem';
import { mayPass } from '@/api/queries';
import type { DrainedMessage, FollowUpView } from '@/protocol';
import { readFollowUps, sendFollowUp } from './calls';
import { pause, pauseMs } from './pause';
import { isBusy, type State, type Store } from './state';
import type { FollowUpChip } from './types';

const ATTEMPTS = 5;

export class FollowUps {
  /** Those that a person has taken away. */
  private readonly dropped = new Set<string>();

  constructor(private readonly store: Store<State>) {}

  /** Whether the turn at work has it; `false` when nothing is at work any more. */
  async send(session: string, id: string, text: string): Promise<boolean> {
    this.put(id, text, 'sending');
    try {
      await this.insist(() => sendFollowUp(session, id, text));
      // It may have been delivered, and its chip taken away, before the answer came.
      if (this.chips.some((chip) => chip.id === id)) this.put(id, text, 'waiting');
      return true;
    } catch (error) {
      this.remove([{ id }]);
      if (error instanceof ApiError && error.code === 'NO_ACTIVE_TURN') return false;
      throw error;
    }
  }

  /** The model was given these; they stand in the conversation now. */
  delivered(messages: readonly DrainedMessage[]): void {
    this.remove(messages);
  }

  /** Something newer was sent: what was handed back is no longer offered. */
  forgetReturned(): void {
    for (const { id, state } of this.chips) if (state === 'returned') this.drop(id);
  }

  drop(id: string): void {
    this.dropped.add(id);
    this.remove([{ id }]);
  }

  /** Asks the server what became of them. */
  async read(session: string, latestTurn: string | null, signal: AbortSignal): Promise<void> {
    const told = await readFollowUps(session, signal);
    this.store.patch({ followUps: reconciled(this.chips, told, latestTurn, this.dropped) });
  }

  private get chips(): FollowUpChip[] {
    return this.store.get().followUps;
  }

  /** Its id makes it safe to send it again. */
  private async insist(send: () => Promise<void>): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await send();
      } catch (error) {
        if (!mayPass(error) || attempt === ATTEMPTS || !isBusy(this.store.get().phase)) throw error;
        await pause(pauseMs(attempt - 1), new AbortController().signal);
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
 * The chips after the server was asked. What was handed back is offered again until somebody writes something newer:
 * so only what belonged to the latest turn, and what this page has shown as waiting until now.
 */
export function reconciled(
  chips: readonly FollowUpChip[],
  told: readonly FollowUpView[],
  latestTurn: string | null,
  dropped: ReadonlySet<string>,
): FollowUpChip[] {
  const known = new Set(told.map((one) => one.id));
  const before = new Set(chips.map((chip) => chip.id));
  const unheard = chips.filter((chip) => chip.state === 'sending' && !known.has(chip.id));
  const waiting: FollowUpChip[] = [];
  for (const { id, message, state, turn_id } of told) {
    if (state === 'pending') waiting.push({ id, text: message, state: 'waiting' });
    else if (state !== 'delivered' && !dropped.has(id) && (turn_id === latestTurn || before.has(id))) {
      waiting.push({ id, text: message, state: 'returned' });
    }
  }
  return [...waiting, ...unheard];
}
