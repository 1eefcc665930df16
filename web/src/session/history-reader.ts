// Reads the stored history of a session into the transcript, page by page.

import { ApiError } from '@/api/problem';
import { retryDelay, retryDelayMs } from '@/api/retry-delay';
import type { Store } from '@/lib/store';
import type { SessionDetail } from '@/protocol';
import type { FollowUps } from './follow-ups';
import { pendingOperations } from './pending-operations';
import { PAGE, readSession } from './session-requests';
import type { SessionState } from './state';
import type { Transcript } from './transcript';

export class HistoryReader {
  /** Fingerprint of the session at the last read. */
  private lastFingerprint = '';
  private failedOlderReads = 0;

  constructor(
    private readonly store: Store<SessionState>,
    private readonly transcript: Transcript,
    private readonly followUps: FollowUps,
    /** Whether the history has been read once, or there is none. */
    public isLoaded: boolean,
  ) {}

  /** Reads the newest page, and the state of the follow-ups. */
  async readNewest(id: string, signal: AbortSignal): Promise<SessionDetail> {
    const detail = await readSession(id, { limit: PAGE }, signal);
    await this.readPendingOperations(id, detail, signal);
    this.show(detail);
    const { error, stopped } = this.transcript.latest?.metadata ?? {};
    if (detail.active_stream || this.store.get().followUps.length > 0 || error || stopped) {
      await this.followUps.read(id, this.transcript.latestTurn, signal);
    }
    return detail;
  }

  async readOlder(): Promise<void> {
    const { id, loadingOlder, hasOlder } = this.store.get();
    const first = this.transcript.list[0]?.sequence;
    if (!id || loadingOlder || !hasOlder || first === undefined) return;
    this.store.patch({ loadingOlder: true });
    try {
      const query = { limit: PAGE, before_sequence: first };
      this.transcript.readOlder(await readSession(id, query, new AbortController().signal));
      this.failedOlderReads = 0;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // If the top of the list is still visible, the page asks again as soon as this call ends.
      await retryDelay(retryDelayMs(this.failedOlderReads++), new AbortController().signal);
    } finally {
      this.store.patch({ loadingOlder: false, hasOlder: this.transcript.hasOlder });
    }
  }

  /** Whether the session has changed since the last read. */
  async hasChanged(id: string): Promise<boolean> {
    try {
      const detail = await readSession(id, { limit: 1 }, new AbortController().signal);
      return fingerprint(detail) !== this.lastFingerprint;
    } catch (error) {
      // The next poll tries again.
      if (!(error instanceof ApiError)) throw error;
      return false;
    }
  }

  /** Makes the next poll report a change. */
  expectChange(): void {
    this.lastFingerprint = '';
  }

  private show(detail: SessionDetail): void {
    this.transcript.read(detail, detail.active_stream?.turn_id ?? null);
    this.lastFingerprint = fingerprint(detail);
    this.isLoaded = true;
    this.store.patch({
      title: detail.title ?? null,
      parentId: detail.parent_session_id ?? null,
      hasOlder: this.transcript.hasOlder,
      loadError: null,
      error: null,
    });
  }

  /** Reads the rows of running operations that are older than the newest page. */
  private async readPendingOperations(id: string, newest: SessionDetail, signal: AbortSignal): Promise<void> {
    const first = newest.oldest_sequence ?? 0;
    const [oldest] = pendingOperations(this.transcript.list).filter((row) => row.sequence < first);
    if (!oldest) return;
    const query = { limit: PAGE, before_sequence: oldest.sequence + 1 };
    this.transcript.updateRows(await readSession(id, query, signal));
  }
}

/** A string that changes when there is something new to read. */
function fingerprint(detail: SessionDetail): string {
  const last = detail.messages.at(-1);
  return [detail.updated_at, detail.title, last?.id, last?.turn_id, detail.active_stream?.turn_id].join(' ');
}
