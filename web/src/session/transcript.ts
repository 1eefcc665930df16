// The messages of a session: the history, followed by messages that only this page has.

import type { Chat } from '@ai-sdk/react';
import type { DataParts, MessageView, SessionDetail, Usage } from '@/protocol';
import { messagesOf, usageMetadata, userMessage } from './history';
import { type HistoryRows, NO_ROWS, withNewest, withOlder, withReread } from './history-rows';
import type { CopilotMessage, CopilotPart } from './types';
import { sizeOf } from './visible-messages';

type Page = Pick<SessionDetail, 'messages' | 'has_more_messages' | 'oldest_sequence'>;

/** Data from a turn's stream that isn't in the history. */
type StreamExtras = { usage?: Usage; background: Map<string, DataParts['background']> };

export class Transcript {
  private rows: HistoryRows = NO_ROWS;
  private readonly extras = new Map<string, StreamExtras>();
  /** The response as it was before its stream is replayed. */
  beforeReplay: CopilotMessage | null = null;

  constructor(private readonly chat: Chat<CopilotMessage>) {}

  get list(): readonly MessageView[] {
    return this.rows.list;
  }

  get hasOlder(): boolean {
    return this.rows.hasOlder;
  }

  /** The newest message on the page. */
  get latest(): CopilotMessage | undefined {
    return this.chat.messages.at(-1);
  }

  /** The turn of the newest row. */
  get latestTurn(): string | null {
    return this.rows.list.at(-1)?.turn_id ?? null;
  }

  /** Shows the newest page. Of the messages that only this page has, the running turn's response is kept. */
  read(page: Page, running: string | null): void {
    this.rows = withNewest(this.rows, page);
    const inFlight = this.chat.messages.find((message) => message.id === running) ?? null;
    // A replay that was cut off as well may be shorter than what was shown before.
    const isBehind =
      inFlight && this.beforeReplay?.id === inFlight.id && sizeOf(inFlight) < sizeOf(this.beforeReplay);
    if (!isBehind) this.beforeReplay = inFlight;
    this.show((message) => message === inFlight, inFlight);
  }

  /** Updates rows that aren't on the newest page. */
  updateRows(page: Page): void {
    this.rows = withReread(this.rows, page);
    this.show(() => true, this.beforeReplay);
  }

  readOlder(page: Page): void {
    this.rows = withOlder(this.rows, page);
    this.show(() => true, this.beforeReplay);
  }

  /** Removes a message that the server didn't accept. */
  removeMessage(id: string): void {
    this.chat.messages = this.chat.messages.filter((message) => message.id !== id);
  }

  /** Clears a response before it is regenerated. Follow-ups delivered during it stay as messages. */
  clearResponse(response: CopilotMessage): void {
    const followUps = response.parts
      .filter((part) => part.type === 'data-pending-drained')
      .flatMap((part) => part.data.messages.map(({ id, text }) => userMessage(id, text)));
    const before = this.chat.messages.filter((message) => message.id !== response.id);
    this.chat.messages = [...before, ...followUps, response];
    const list = this.rows.list.filter((row) => row.turn_id !== response.id || row.role === 'user');
    this.rows = { ...this.rows, list };
  }

  recordUsage(turn: string, usage: Usage): void {
    this.extrasOf(turn).usage = usage;
  }

  recordBackground(turn: string, id: string, data: DataParts['background']): void {
    this.extrasOf(turn).background.set(id, data);
  }

  private extrasOf(turn: string): StreamExtras {
    const known = this.extras.get(turn) ?? { background: new Map() };
    this.extras.set(turn, known);
    return known;
  }

  /** Shows the history, then the kept messages that only this page has. `live` is newer than its copy in the history. */
  private show(kept: (message: CopilotMessage) => boolean, live: CopilotMessage | null): void {
    const before = new Map(this.chat.messages.map((message) => [message.id, message]));
    const history = messagesOf(this.rows.list)
      .filter((message) => message.id !== live?.id)
      .map((message) => {
        const full = this.withExtras(message);
        const known = before.get(full.id);
        // Unchanged messages stay the same objects, so that they aren't rendered again.
        return known && JSON.stringify(known) === JSON.stringify(full) ? known : full;
      });
    const stored = new Set(history.map((message) => message.id));
    const own = this.chat.messages.filter((message) => !stored.has(message.id) && kept(message));
    this.chat.messages = [...history, ...own];
  }

  private withExtras(message: CopilotMessage): CopilotMessage {
    const extras = message.role === 'assistant' ? this.extras.get(message.id) : undefined;
    if (!extras) return message;
    const background = [...extras.background].map(
      ([id, data]): CopilotPart => ({ type: 'data-background', id, data }),
    );
    return {
      ...message,
      parts: [...message.parts, ...background],
      metadata: { ...usageMetadata(extras.usage ?? {}), ...message.metadata },
    };
  }
}
