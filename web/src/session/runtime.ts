// One conversation, alive beside the pages that show it: it reads the history, follows the turn at work, comes back
// after a lost connection, and notices what other windows do.

import { Chat } from '@ai-sdk/react';
import { ApiError, wordsOf } from '@/api/problem';
import { mayPass } from '@/api/queries';
import type { SessionDetail } from '@/protocol';
import { cancelSession, createSession } from './calls';
import { FollowUps } from './follow-ups';
import { freshId } from './fresh-id';
import { Hearing } from './hearing';
import { question } from './history';
import { Jobs } from './jobs';
import { Lookout } from './lookout';
import { openOperations } from './operations';
import { pause, pauseMs } from './pause';
import { Reader } from './reader';
import { isBusy, newState, type State, Store } from './state';
import { Transcript } from './transcript';
import { type Ending, Transport } from './transport';
import type { CopilotMessage } from './types';

const SLOW_MS = 12_000;
const LOOK_MS = 2_500;
const LOOK_AT_OPERATION_MS = 1_500;
/** How long a conversation that nobody looks at keeps its connection. A browser has few of them for one server. */
const REST_AFTER_MS = 3_000;

export class SessionRuntime {
  readonly key = freshId();
  readonly store: Store<State>;
  readonly chat: Chat<CopilotMessage>;
  readonly transcript: Transcript;
  private readonly followUps: FollowUps;
  private readonly reader: Reader;
  private readonly transport: Transport;
  private readonly jobs: Jobs;
  private readonly lookout: Lookout;
  private observers = 0;
  private rest: ReturnType<typeof setTimeout> | undefined;
  private late: ReturnType<typeof setTimeout> | undefined;
  /** The question that is under way and not yet taken by the server. */
  private asking: { taken: () => void } | null = null;
  /** Ends when the last send is decided: sends do not overtake each other. */
  private undecided: Promise<void> | null = null;
  private creating: Promise<string> | null = null;
  private isStopping = false;
  /** A send of which we do not know whether the server has taken it: the same text gets the same id again. */
  private unsure: { id: string; text: string } | null = null;

  constructor(
    id: string | null,
    private readonly onCreated: (runtime: SessionRuntime, id: string) => void = () => {},
  ) {
    this.store = new Store(newState(id));
    this.transport = new Transport(() => this.sessionId(), {
      onOpen: () => this.opened(),
      onChunk: (chunk) => {
        this.notLate();
        hearing.hear(chunk);
      },
    });
    this.chat = new Chat<CopilotMessage>({ transport: this.transport, generateId: freshId });
    this.transcript = new Transcript(this.chat);
    this.followUps = new FollowUps(this.store);
    this.reader = new Reader(this.store, this.transcript, this.followUps, id === null);
    const hearing = new Hearing(this.store, this.transcript, this.followUps, () => this.enter('streaming'));
    this.lookout = new Lookout(
      () => this.look(),
      () => (openOperations(this.transcript.list).length > 0 ? LOOK_AT_OPERATION_MS : LOOK_MS),
    );
    this.jobs = new Jobs(() => this.lookout.later());
  }

  private get state(): State {
    return this.store.get();
  }

  get isObserved(): boolean {
    return this.observers > 0;
  }

  /** Somebody looks at it. Gives back what ends that. */
  observe(): () => void {
    this.observers += 1;
    clearTimeout(this.rest);
    if (this.observers === 1) {
      if (this.jobs.isIdle) this.sync();
      this.lookout.start();
    }
    return () => {
      this.observers -= 1;
      if (this.observers > 0) return;
      this.lookout.stop();
      this.rest = setTimeout(() => this.goToRest(), REST_AFTER_MS);
    };
  }

  /** Rejects when the server did not take it. */
  send(text: string): Promise<void> {
    const decided = this.undecided ? this.undecided.then(() => this.sendNow(text)) : this.sendNow(text);
    const end: Promise<void> = decided
      .catch(() => {})
      .then(() => {
        if (this.undecided === end) this.undecided = null;
      });
    this.undecided = end;
    return decided;
  }

  stop(): void {
    const { id, phase } = this.state;
    if (!isBusy(phase) || this.isStopping) return;
    if (!id) {
      // Nothing has reached the server yet.
      this.jobs.halt();
      return;
    }
    this.isStopping = true;
    this.store.patch({ phase: 'stopping' });
    this.jobs.start(async (signal) => {
      await cancelSurely(id, signal);
      await this.settle(null, signal);
    });
  }

  /** Another answer in place of the last one, or the question once more if there is none. */
  retry(): void {
    if (isBusy(this.state.phase)) return;
    const last = this.chat.messages.at(-1);
    if (last?.role === 'assistant') this.jobs.start((signal) => this.answerAnew(last, signal));
    else if (last) this.askAgain(last);
  }

  /** Reads the history, and follows what is at work. */
  sync(): void {
    if (this.state.id) this.jobs.start((signal) => this.settle(null, signal));
  }

  loadOlder(): Promise<void> {
    return this.reader.readOlder();
  }

  dropFollowUp(id: string): void {
    this.followUps.drop(id);
  }

  /** Ends everything; for a conversation that is forgotten. */
  close(): void {
    clearTimeout(this.rest);
    this.lookout.stop();
    this.jobs.halt();
  }

  /** Until nothing is at work: reads the history, follows the turn that runs, and comes back when the line breaks. */
  private async settle(ending: Ending | null, signal: AbortSignal): Promise<void> {
    let last = ending;
    let attempt = 0;
    let followed: string | null = null;
    while (!signal.aborted) {
      if (last?.kind === 'cut') {
        if (this.reader.isLoaded) this.enter('reconnecting');
        await pause(pauseMs(attempt++), signal);
        if (signal.aborted) return;
      } else if (last?.kind === 'ended' && !this.isStopping) this.calm();
      const detail = await this.read(last, signal);
      if (signal.aborted || detail === 'enough') return;
      if (detail === 'away') {
        last = { kind: 'cut', error: undefined };
        continue;
      }
      const running = detail.active_stream;
      if (!running) {
        this.calm();
        return;
      }
      // Its end was heard, but is not stored yet.
      if (running.turn_id === followed && last?.kind !== 'cut') await pause(pauseMs(0), signal);
      if (signal.aborted) return;
      followed = running.turn_id;
      this.store.patch({ busySince: Date.parse(running.started_at) });
      if (this.state.phase !== 'reconnecting') this.enter('waiting');
      last = await this.connect(() => this.chat.resumeStream(), signal);
      if (this.state.phase !== 'reconnecting') attempt = 0;
    }
  }

  /** Runs a request of the chat to its end. */
  private async connect(open: () => Promise<void>, signal: AbortSignal): Promise<Ending> {
    const close = () => void this.chat.stop();
    signal.addEventListener('abort', close);
    this.late = setTimeout(() => this.store.patch({ slow: true }), SLOW_MS);
    try {
      await open();
    } finally {
      signal.removeEventListener('abort', close);
      this.notLate();
      this.store.patch({ status: null });
      if (this.transport.ending.kind !== 'cut') this.transcript.held = null;
    }
    return signal.aborted ? { kind: 'closed' } : this.transport.ending;
  }

  /** The newest page, which is shown. `away` if it is worth trying again, `enough` if it is not. */
  private async read(last: Ending | null, signal: AbortSignal): Promise<SessionDetail | 'away' | 'enough'> {
    try {
      const detail = await this.reader.readNewest(await this.sessionId(), signal);
      // It was taken after all: the same words are a new message from now on.
      if (this.transcript.list.some((row) => row.id === this.unsure?.id)) this.unsure = null;
      return detail;
    } catch (error) {
      if (signal.aborted) return 'enough';
      if (mayPass(error) && last?.kind === 'ended') {
        // The answer is here whole; what the history adds can wait for the next look.
        this.reader.expectNews();
        return 'enough';
      }
      if (!this.reader.isLoaded || !mayPass(error)) this.store.patch({ loadError: error });
      if (mayPass(error)) return 'away';
      this.calm();
      return 'enough';
    }
  }

  private async sendNow(text: string): Promise<void> {
    const id = this.unsure?.text === text ? this.unsure.id : freshId();
    this.unsure = null;
    try {
      if (isBusy(this.state.phase) && (await this.followUps.send(await this.sessionId(), id, text))) return;
      await this.ask(id, text);
    } catch (error) {
      // What was refused was understood, and what was stopped is not wanted; of everything else nobody knows.
      const isUnsure = error instanceof ApiError ? mayPass(error) : !this.isStopping;
      if (isUnsure) this.unsure = { id, text };
      throw error;
    }
  }

  private ask(id: string, text: string): Promise<void> {
    this.begin();
    return new Promise((resolve, reject) => {
      const asking = { taken: resolve };
      this.asking = asking;
      const work = async (signal: AbortSignal) => {
        const ending = await this.connect(() => this.chat.sendMessage(question(id, text)), signal);
        if (this.asking !== asking) return this.settle(ending, signal);
        this.asking = null;
        this.transcript.withdraw(id);
        this.chat.clearError();
        if (!this.isStopping) this.calm();
        reject(ending.kind === 'refused' ? ending.error : notSent());
      };
      this.jobs.start(work).then((done) => {
        if (done) return;
        if (this.asking === asking) this.asking = null;
        reject(notSent());
      }, reject);
    });
  }

  private askAgain(asked: CopilotMessage): void {
    this.transcript.withdraw(asked.id);
    const text = asked.parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
    this.ask(asked.id, text).catch((error) => {
      this.chat.messages = [...this.chat.messages, asked];
      this.fail(error);
    });
  }

  private async answerAnew(answer: CopilotMessage, signal: AbortSignal): Promise<void> {
    this.begin();
    this.transcript.clearAnswer(answer);
    const ending = await this.connect(() => this.chat.regenerate({ messageId: answer.id }), signal);
    if (ending.kind !== 'refused') return this.settle(ending, signal);
    this.chat.clearError();
    await this.settle(null, signal);
    this.fail(ending.error);
  }

  /** The session, made now if this is its first message. */
  private async sessionId(): Promise<string> {
    if (this.state.id) return this.state.id;
    this.creating ??= this.create().finally(() => {
      this.creating = null;
    });
    return this.creating;
  }

  private async create(): Promise<string> {
    const id = await createSession();
    this.store.patch({ id });
    this.onCreated(this, id);
    return id;
  }

  /** Whether somebody else has gone on with this session, or an operation has ended. */
  private async look(): Promise<void> {
    const { id } = this.state;
    if (!id || !this.jobs.isIdle) return;
    if ((await this.reader.hasNews(id)) && this.jobs.isIdle) this.sync();
  }

  private goToRest(): void {
    // A message that the server has not taken yet is not given up, nor is the wish to stop.
    if (this.asking || this.isStopping) this.rest = setTimeout(() => this.goToRest(), REST_AFTER_MS);
    else this.jobs.halt();
  }

  private opened(): void {
    this.asking?.taken();
    this.asking = null;
    if (this.state.phase === 'reconnecting') this.enter('waiting');
  }

  private notLate(): void {
    clearTimeout(this.late);
    this.store.patch({ slow: false });
  }

  private begin(): void {
    this.isStopping = false;
    this.followUps.forgetReturned();
    this.store.patch({ phase: 'waiting', busySince: Date.now(), error: null, status: null });
  }

  private enter(phase: 'waiting' | 'streaming' | 'reconnecting'): void {
    this.store.patch({ phase: this.isStopping ? 'stopping' : phase });
  }

  private calm(): void {
    this.isStopping = false;
    this.store.patch({ phase: 'ready', busySince: null });
  }

  private fail(error: unknown): void {
    const code = error instanceof ApiError ? error.code : null;
    this.store.patch({ error: { code, message: wordsOf(error), canRetry: true } });
  }
}

function notSent(): Error {
  return new Error('The message was not sent.');
}

/** Says it until it is heard: somebody wants the turn to end. */
async function cancelSurely(id: string, signal: AbortSignal): Promise<void> {
  for (let attempt = 0; !signal.aborted; attempt++) {
    try {
      return await cancelSession(id, signal);
    } catch (error) {
      if (!mayPass(error)) return;
      await pause(pauseMs(attempt), signal);
    }
  }
}
