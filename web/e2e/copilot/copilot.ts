// The copilot's page as a person uses it.

import type { Locator, Page } from 'playwright-core';
import type { Visitor } from '../harness';
import type { Server } from '../harness/server';

export class Copilot {
  readonly field: Locator;
  readonly stop: Locator;
  readonly answers: Locator;
  readonly questions: Locator;
  readonly followUps: Locator;

  constructor(readonly page: Page) {
    const form = page.getByRole('form', { name: 'Message' });
    this.field = form.getByRole('textbox');
    this.stop = form.getByRole('button', { name: 'Stop' });
    this.answers = page.getByTestId('assistant-message');
    this.questions = page.getByTestId('user-message');
    this.followUps = page.getByRole('list', { name: 'Follow-ups' }).getByRole('listitem');
  }

  /** A new chat, or a session that is there. */
  static async open(visitor: Visitor, sessionId?: string): Promise<Copilot> {
    return new Copilot(await visitor.open(sessionId ? `/copilot?sessionId=${sessionId}` : '/copilot'));
  }

  async send(text: string): Promise<void> {
    await this.field.fill(text);
    await this.field.press('Enter');
  }

  /** Sends it and waits for the whole answer. */
  async ask(text: string): Promise<void> {
    const before = await this.questions.count();
    await this.send(text);
    await this.questions.nth(before).waitFor();
    await this.rests();
  }

  /** Returns when something is at work. */
  async works(): Promise<void> {
    await this.stop.waitFor();
  }

  /** Returns when nothing is at work. */
  async rests(patience = 30_000): Promise<void> {
    await this.stop.waitFor({ state: 'detached', timeout: patience });
  }

  /** Returns when the last answer has so many characters: it has begun to come. */
  async says(atLeast: number): Promise<void> {
    await this.page.waitForFunction(
      (atLeast) => {
        const answer = [...document.querySelectorAll('[data-testid=assistant-message]')].at(-1);
        return (answer?.textContent?.length ?? 0) >= atLeast;
      },
      atLeast,
      { polling: 20 },
    );
  }

  /** The id of the session, once its address has it. */
  async sessionId(): Promise<string> {
    await this.page.waitForURL(/sessionId=/);
    return new URL(this.page.url()).searchParams.get('sessionId') ?? '';
  }

  /** Who has said what, in the order of the page: a letter for the speaker, and the words without their layout. */
  async transcript(): Promise<string[]> {
    return this.page.getByTestId(/^(user|assistant)-message$/).evaluateAll((messages) =>
      messages.map((message) => {
        const isQuestion = message.getAttribute('data-testid') === 'user-message';
        // Not what was thought, and not what a card says.
        const words = [...message.querySelectorAll(':scope > div > .markdown')];
        const text = (isQuestion ? [message] : words).map((part) => part.textContent).join(' ');
        return `${isQuestion ? 'Q' : 'A'} ${text
          .replace(/^You: /, '')
          .replace(/\s+/g, ' ')
          .trim()}`;
      }),
    );
  }
}

type Row = { role: string; content: string | null; turn_id: string };

/** The same as the server has it. */
export async function storedTranscript(server: Server, sessionId: string): Promise<string[]> {
  const answer = await fetch(`${server.url}/api/chat/sessions/${sessionId}?limit=200`);
  const { messages } = (await answer.json()) as { messages: Row[] };
  const spoken = messages.filter((row) => row.role === 'user' || row.role === 'assistant');
  const lines: string[] = [];
  let open: string | null = null;
  for (const { role, content, turn_id } of spoken) {
    const words = (content ?? '').replace(/\s+/g, ' ').trim();
    if (role === 'user') lines.push(`Q ${words}`);
    // The steps of a turn are one answer.
    else if (open === turn_id) lines.push(`${lines.pop()} ${words}`.trim());
    else lines.push(`A ${words}`);
    open = role === 'user' ? null : turn_id;
  }
  return lines;
}
