// What the server has stored of a session, read into the transcript page by page.

import { ApiError } from '@/api/problem';
import type { SessionDetail } from '@/protocol';
import { PAGE, readSession } from './calls';
import type { FollowUps } from './follow-ups';
import { openOperations } from './operations';
import { pause, pauseMs } from './pause';
import type { State, Store } from './state';
import type { Transcript } from './transcript';

export class Reader {
  /** What the last reading has seen. */
  private seen = '';
  private olderFailures = 0;

  constructor(
    private readonly store: Store<State>,
    private readonly transcript: Transcript,
    private readonly followUps: FollowUps,
    /** The history was read once, or there is none. */
    public isLoaded: boolean,
  ) {}

  /** The newest page, and what became of the follow-ups. */
  async readNewest(id: string, signal: AbortSignal): Promise<SessionDetail> {
    const detail = await readSession(id, { limit: PAGE }, signal);
    await this.readOpenOperations(id, detail, signal);
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
      this.olderFailures = 0;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // Whoever still looks at the beginning asks again as soon as this is over.
      await pause(pauseMs(this.olderFailures++), new AbortController().signal);
    } finally {
      this.store.patch({ loadingOlder: false, hasOlder: this.transcript.hasOlder });
    }
  }

  /** Whether something has happened since the last reading. */
  async hasNews(id: string): Promise<boolean> {
    try {
      const detail = await readSession(id, { limit: 1 }, new AbortController().signal);
      return fingerprint(detail) !== this.seen;
    } catch (error) {
      // Somebody asks again soon.
      if (!(error instanceof ApiError)) throw error;
      return false;
    }
  }

  /** Whatever the next look sees is news. */
  expectNews(): void {
    this.seen = '';
  }

  private show(detail: SessionDetail): void {
    this.transcript.read(detail, detail.active_stream?.turn_id ?? null);
    this.seen = fingerprint(detail);
    this.isLoaded = true;
    this.store.patch({
      title: detail.title ?? null,
      parentId: detail.parent_session_id ?? null,
      hasOlder: this.transcript.hasOlder,
      loadError: null,
      error: null,
    });
  }

  /** A result may come for a row that the newest page does not reach. */
  private async readOpenOperations(id: string, newest: SessionDetail, signal: AbortSignal): Promise<void> {
    const first = newest.oldest_sequence ?? 0;
    const [oldest] = openOperations(this.transcript.list).filter((row) => row.sequence < first);
    if (!oldest) return;
    const query = { limit: PAGE, before_sequence: oldest.sequence + 1 };
    this.transcript.readAgain(await readSession(id, query, signal));
  }
}

/** Changes when there is something to read. */
function fingerprint(detail: SessionDetail): string {
  const last = detail.messages.at(-1);
  return [detail.updated_at, detail.title, last?.id, last?.turn_id, detail.active_stream?.turn_id].join(' ');
}
