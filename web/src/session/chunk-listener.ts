// Handles the chunks of a stream that aren't parts of the response; the SDK collects those.

import type { UIMessageChunk } from 'ai';
import type { Store } from '@/lib/store';
import type { DataParts } from '@/protocol';
import type { FollowUps } from './follow-ups';
import type { SessionState } from './state';
import type { Transcript } from './transcript';
import { parseFailure } from './turn-failure';

const CONTENT_CHUNK = /^(text|reasoning|tool)-/;

export class ChunkListener {
  /** The turn that is streaming. */
  private turn: string | null = null;

  constructor(
    private readonly store: Store<SessionState>,
    private readonly transcript: Transcript,
    private readonly followUps: FollowUps,
    /** Called when the response begins or grows. */
    private readonly onContent: () => void,
  ) {}

  handle(chunk: UIMessageChunk): void {
    if (chunk.type === 'start') this.turn = chunk.messageId ?? null;
    else if (chunk.type === 'error') {
      this.store.patch({ error: { ...parseFailure(chunk.errorText), canRetry: true } });
    } else if (isData(chunk)) this.handleData(chunk);
    else if (CONTENT_CHUNK.test(chunk.type)) {
      this.store.patch({ status: null });
      this.onContent();
    }
  }

  private handleData(chunk: DataChunk): void {
    if (chunk.type === 'data-status') this.store.patch({ status: chunk.data.message });
    else if (chunk.type === 'data-pending-drained') this.followUps.delivered(chunk.data.messages);
    else if (!this.turn) return;
    else if (chunk.type === 'data-usage') this.transcript.recordUsage(this.turn, chunk.data);
    else if (chunk.type === 'data-background' && chunk.id) {
      this.transcript.recordBackground(this.turn, chunk.id, chunk.data);
    }
  }
}

type DataChunk = {
  [Name in keyof DataParts]: { type: `data-${Name}`; id?: string; data: DataParts[Name] };
}[keyof DataParts];

function isData(chunk: { type: string }): chunk is DataChunk {
  return chunk.type.startsWith('data-');
}
