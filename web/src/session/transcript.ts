// The messages of a conversation: what the history says, and after it what only this page has.

import type { Chat } from '@ai-sdk/react';
import type { DataParts, MessageView, SessionDetail, Usage } from '@/protocol';
import { messagesOf, question, tokensOf } from './history';
import { NO_ROWS, type Rows, withAgain, withNewest, withOlder } from './rows';
import { sizeOf } from './shown';
import type { CopilotMessage, CopilotPart } from './types';

type Page = Pick<SessionDetail, 'messages' | 'has_more_messages' | 'oldest_sequence'>;

/** What the stream of a turn has said that no row of the history says. */
type Extras = { usage?: Usage; background: Map<string, DataParts['background']> };

export class Transcript {
  private rows: Rows = NO_ROWS;
  private readonly extras = new Map<string, Extras>();
  /** The answer as it was before its stream is replayed. */
  held: CopilotMessage | null = null;

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

  /** The newest page was read. Of what only this page has, the answer of the running turn stays. */
  read(page: Page, running: string | null): void {
    this.rows = withNewest(this.rows, page);
    const inFlight = this.chat.messages.find((message) => message.id === running) ?? null;
    // A replay that broke off as well has not caught up with what was there before.
    const isBehind = inFlight && this.held?.id === inFlight.id && sizeOf(inFlight) < sizeOf(this.held);
    if (!isBehind) this.held = inFlight;
    this.show((message) => message === inFlight, inFlight);
  }

  /** Rows were read again that are not on the newest page. */
  readAgain(page: Page): void {
    this.rows = withAgain(this.rows, page);
    this.show(() => true, this.held);
  }

  readOlder(page: Page): void {
    this.rows = withOlder(this.rows, page);
    this.show(() => true, this.held);
  }

  /** Takes a question back that the server did not take. */
  withdraw(id: string): void {
    this.chat.messages = this.chat.messages.filter((message) => message.id !== id);
  }

  /** Makes room for another answer: the follow-ups that the old one had taken up stay as questions. */
  clearAnswer(answer: CopilotMessage): void {
    const asked = answer.parts
      .filter((part) => part.type === 'data-pending-drained')
      .flatMap((part) => part.data.messages.map(({ id, text }) => question(id, text)));
    const before = this.chat.messages.filter((message) => message.id !== answer.id);
    this.chat.messages = [...before, ...asked, answer];
    const list = this.rows.list.filter((row) => row.turn_id !== answer.id || row.role === 'user');
    this.rows = { ...this.rows, list };
  }

  noteUsage(turn: string, usage: Usage): void {
    this.extrasOf(turn).usage = usage;
  }

  noteBackground(turn: string, id: string, data: DataParts['background']): void {
    this.extrasOf(turn).background.set(id, data);
  }

  private extrasOf(turn: string): Extras {
    const known = this.extras.get(turn) ?? { background: new Map() };
    this.extras.set(turn, known);
    return known;
  }

  /** The history, then what only this page has and is to be kept. `live` is newer than what the history says of it. */
  private show(kept: (message: CopilotMessage) => boolean, live: CopilotMessage | null): void {
    const before = new Map(this.chat.messages.map((message) => [message.id, message]));
    const history = messagesOf(this.rows.list)
      .filter((message) => message.id !== live?.id)
      .map((message) => {
        const full = this.withExtras(message);
        const known = before.get(full.id);
        // What has not changed stays the same object, so that it is not drawn again.
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
      metadata: { ...tokensOf(extras.usage ?? {}), ...message.metadata },
    };
  }
}
