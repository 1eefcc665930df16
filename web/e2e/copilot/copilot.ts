// Page object of the copilot page.

import type { Locator, Page } from 'playwright-core';
import type { Visitor } from '../harness';
import type { Server } from '../harness/server';

export class Copilot {
  readonly field: Locator;
  readonly stop: Locator;
  readonly responses: Locator;
  readonly userMessages: Locator;
  readonly followUps: Locator;

  constructor(readonly page: Page) {
    const form = page.getByRole('form', { name: 'Message' });
    this.field = form.getByRole('textbox');
    this.stop = form.getByRole('button', { name: 'Stop' });
    this.responses = page.getByTestId('assistant-message');
    this.userMessages = page.getByTestId('user-message');
    this.followUps = page.getByRole('list', { name: 'Follow-ups' }).getByRole('listitem');
  }

  /** Opens a new chat, or an existing session. */
  static async open(visitor: Visitor, sessionId?: string): Promise<Copilot> {
    return new Copilot(await visitor.open(sessionId ? `/copilot?sessionId=${sessionId}` : '/copilot'));
  }

  async send(text: string): Promise<void> {
    await this.field.fill(text);
    await this.field.press('Enter');
  }

  /** Sends a message and waits for the whole response. */
  async sendAndWait(text: string): Promise<void> {
    const before = await this.userMessages.count();
    await this.send(text);
    await this.userMessages.nth(before).waitFor();
    await this.waitUntilIdle();
  }

  /** Waits until a turn is running. */
  async waitUntilRunning(): Promise<void> {
    await this.stop.waitFor();
  }

  /** Waits until no turn is running. */
  async waitUntilIdle(timeout = 30_000): Promise<void> {
    await this.stop.waitFor({ state: 'detached', timeout });
  }

  /** Waits until the last response has at least this many characters, so it has started streaming. */
  async waitForText(atLeast: number): Promise<void> {
    await this.page.waitForFunction(
      (atLeast) => {
        const response = [...document.querySelectorAll('[data-testid=assistant-message]')].at(-1);
        return (response?.textContent?.length ?? 0) >= atLeast;
      },
      atLeast,
      { polling: 20 },
    );
  }

  /** The session id, once it is in the URL. */
  async sessionId(): Promise<string> {
    await this.page.waitForURL(/sessionId=/);
    return new URL(this.page.url()).searchParams.get('sessionId') ?? '';
  }

  /** The messages in order: `Q` or `A` for the role, and the text with normalized whitespace. */
  async transcript(): Promise<string[]> {
    return this.page.getByTestId(/^(user|assistant)-message$/).evaluateAll((messages) =>
      messages.map((message) => {
        const isUserMessage = message.getAttribute('data-testid') === 'user-message';
        // Without reasoning and tool cards.
        const blocks = [...message.querySelectorAll(':scope > div > .markdown')];
        const text = (isUserMessage ? [message] : blocks).map((part) => part.textContent).join(' ');
        return `${isUserMessage ? 'Q' : 'A'} ${text
          .replace(/^You: /, '')
          .replace(/\s+/g, ' ')
          .trim()}`;
      }),
    );
  }
}

type Row = { role: string; content: string | null; turn_id: string };

/** The same transcript, from the server's history. */
export async function storedTranscript(server: Server, sessionId: string): Promise<string[]> {
  const response = await fetch(`${server.url}/api/chat/sessions/${sessionId}?limit=200`);
  const { messages } = (await response.json()) as { messages: Row[] };
  const rows = messages.filter((row) => row.role === 'user' || row.role === 'assistant');
  const lines: string[] = [];
  let open: string | null = null;
  for (const { role, content, turn_id } of rows) {
    const text = (content ?? '').replace(/\s+/g, ' ').trim();
    if (role === 'user') lines.push(`Q ${text}`);
    // The steps of a turn are one response.
    else if (open === turn_id) lines.push(`${lines.pop()} ${text}`.trim());
    else lines.push(`A ${text}`);
    open = role === 'user' ? null : turn_id;
  }
  return lines;
}
