// What the chunks of a stream say besides the parts of the answer, which the SDK collects.

import type { UIMessageChunk } from 'ai';
import type { DataParts } from '@/protocol';
import { failureOf } from './failure';
import type { FollowUps } from './follow-ups';
import type { State, Store } from './state';
import type { Transcript } from './transcript';

const SAYS_SOMETHING = /^(text|reasoning|tool)-/;

export class Hearing {
  /** The turn that speaks. */
  private turn: string | null = null;

  constructor(
    private readonly store: Store<State>,
    private readonly transcript: Transcript,
    private readonly followUps: FollowUps,
    /** The answer has begun, or goes on. */
    private readonly onWords: () => void,
  ) {}

  hear(chunk: UIMessageChunk): void {
    if (chunk.type === 'start') this.turn = chunk.messageId ?? null;
    else if (chunk.type === 'error') {
      this.store.patch({ error: { ...failureOf(chunk.errorText), canRetry: true } });
    } else if (isData(chunk)) this.hearData(chunk);
    else if (SAYS_SOMETHING.test(chunk.type)) {
      this.store.patch({ status: null });
      this.onWords();
    }
  }

  private hearData(chunk: DataChunk): void {
    if (chunk.type === 'data-status') this.store.patch({ status: chunk.data.message });
    else if (chunk.type === 'data-pending-drained') this.followUps.delivered(chunk.data.messages);
    else if (!this.turn) return;
    else if (chunk.type === 'data-usage') this.transcript.noteUsage(this.turn, chunk.data);
    else if (chunk.type === 'data-background' && chunk.id) {
      this.transcript.noteBackground(this.turn, chunk.id, chunk.data);
    }
  }
}

type DataChunk = {
  [Name in keyof DataParts]: { type: `data-${Name}`; id?: string; data: DataParts[Name] };
}[keyof DataParts];

function isData(chunk: { type: string }): chunk is DataChunk {
  return chunk.type.startsWith('data-');
}
