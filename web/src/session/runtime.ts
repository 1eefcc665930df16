// The state of one session, independent of the pages that show it: reads the history, follows the running turn,
// reconnects after a lost connection, and picks up changes made in other windows.

import { Chat } from '@ai-sdk/react';
import { ApiError, errorMessage } from '@/api/problem';
import { isTransientError } from '@/api/queries';
import { retryDelay, retryDelayMs } from '@/api/retry-delay';
import { Store } from '@/lib/store';
import type { SessionDetail } from '@/protocol';
import { ChunkListener } from './chunk-listener';
import { ExclusiveTask } from './exclusive-task';
import { FollowUps } from './follow-ups';
import { freshId } from './fresh-id';
import { userMessage } from './history';
import { HistoryReader } from './history-reader';
import { pendingOperations } from './pending-operations';
import { Poller } from './poller';
import { cancelSession, createSession } from './session-requests';
import { isBusy, newState, type SessionState } from './state';
import { Transcript } from './transcript';
import { SessionTransport, type StreamEnding } from './transport';
import type { CopilotMessage } from './types';

const SLOW_MS = 12_000;
const POLL_MS = 2_500;
const POLL_OPERATION_MS = 1_500;
/** How long a session without observers keeps its connection. Browsers allow only a few connections per server. */
const DISCONNECT_AFTER_MS = 3_000;

export class SessionRuntime {
  readonly key = freshId();
  readonly store: Store<SessionState>;
  readonly chat: Chat<CopilotMessage>;
  readonly transcript: Transcript;
  private readonly followUps: FollowUps;
  private readonly history: HistoryReader;
  private readonly transport: SessionTransport;
  private readonly task: ExclusiveTask;
  private readonly poller: Poller;
  private observers = 0;
  private disconnectTimer: ReturnType<typeof setTimeout> | undefined;
  private slowTimer: ReturnType<typeof setTimeout> | undefined;
  /** The message that has been sent and isn't accepted by the server yet. */
  private pendingSend: { onAccepted: () => void } | null = null;
  /** Settles when the last send has been accepted or refused, so that sends stay in order. */
  private lastSend: Promise<void> | null = null;
  private creating: Promise<string> | null = null;
  private isStopping = false;
  /** A send that may or may not have been accepted. Sending the same text again reuses its id. */
  private uncertainSend: { id: string; text: string } | null = null;

  constructor(
    id: string | null,
    private readonly onCreated: (runtime: SessionRuntime, id: string) => void = () => {},
  ) {
    this.store = new Store(newState(id));
    this.transport = new SessionTransport(() => this.sessionId(), {
      onOpen: () => this.handleOpen(),
      onChunk: (chunk) => {
        this.clearSlow();
        chunks.handle(chunk);
      },
    });
    this.chat = new Chat<CopilotMessage>({ transport: this.transport, generateId: freshId });
    this.transcript = new Transcript(this.chat);
    this.followUps = new FollowUps(this.store);
    this.history = new HistoryReader(this.store, this.transcript, this.followUps, id === null);
    const chunks = new ChunkListener(this.store, this.transcript, this.followUps, () =>
      this.setPhase('streaming'),
    );
    this.poller = new Poller(
      () => this.checkForChanges(),
      () => (pendingOperations(this.transcript.list).length > 0 ? POLL_OPERATION_MS : POLL_MS),
    );
    this.task = new ExclusiveTask(() => this.poller.schedule());
  }

  private get state(): SessionState {
    return this.store.get();
  }

  get isObserved(): boolean {
    return this.observers > 0;
  }

  /** Registers an observer. Returns a function that removes it. */
  observe(): () => void {
    this.observers += 1;
    clearTimeout(this.disconnectTimer);
    if (this.observers === 1) {
      if (this.task.isIdle) this.sync();
      this.poller.start();
    }
    return () => {
      this.observers -= 1;
      if (this.observers > 0) return;
      this.poller.stop();
      this.disconnectTimer = setTimeout(() => this.disconnect(), DISCONNECT_AFTER_MS);
    };
  }

  /** Rejects when the server didn't accept the message. */
  send(text: string): Promise<void> {
    const accepted = this.lastSend ? this.lastSend.then(() => this.sendNow(text)) : this.sendNow(text);
    const end: Promise<void> = accepted
      .catch(() => {})
      .then(() => {
        if (this.lastSend === end) this.lastSend = null;
      });
    this.lastSend = end;
    return accepted;
  }

  stop(): void {
    const { id, phase } = this.state;
    if (!isBusy(phase) || this.isStopping) return;
    if (!id) {
      // Nothing has been sent to the server yet.
      this.task.abort();
      return;
    }
    this.isStopping = true;
    this.store.patch({ phase: 'stopping' });
    this.task.start(async (signal) => {
      await cancelWithRetry(id, signal);
      await this.followUntilIdle(null, signal);
    });
  }

  /** Regenerates the last response, or resends the last message if it has none. */
  retry(): void {
    if (isBusy(this.state.phase)) return;
    const last = this.chat.messages.at(-1);
    if (last?.role === 'assistant') this.task.start((signal) => this.regenerate(last, signal));
    else if (last) this.resend(last);
  }

  /** Reads the history and follows the running turn. */
  sync(): void {
    if (this.state.id) this.task.start((signal) => this.followUntilIdle(null, signal));
  }

  loadOlder(): Promise<void> {
    return this.history.readOlder();
  }

  dropFollowUp(id: string): void {
    this.followUps.drop(id);
  }

  /** Ends all activity, before the runtime is discarded. */
  close(): void {
    clearTimeout(this.disconnectTimer);
    this.poller.stop();
    this.task.abort();
  }

  /** Reads the history and follows the running turn, reconnecting if needed, until no turn runs. */
  private async followUntilIdle(ending: StreamEnding | null, signal: AbortSignal): Promise<void> {
    let last = ending;
    let attempt = 0;
    let followedTurn: string | null = null;
    while (!signal.aborted) {
      if (last?.kind === 'disconnected') {
        if (this.history.isLoaded) this.setPhase('reconnecting');
        await retryDelay(retryDelayMs(attempt++), signal);
        if (signal.aborted) return;
      } else if (last?.kind === 'ended' && !this.isStopping) this.becomeIdle();
      const detail = await this.read(last, signal);
      if (signal.aborted || detail === 'stop') return;
      if (detail === 'unreachable') {
        last = { kind: 'disconnected', error: undefined };
        continue;
      }
      const running = detail.active_stream;
      if (!running) {
        this.becomeIdle();
        return;
      }
      // The stream has ended, but the end isn't stored yet.
      if (running.turn_id === followedTurn && last?.kind !== 'disconnected')
        await retryDelay(retryDelayMs(0), signal);
      if (signal.aborted) return;
      followedTurn = running.turn_id;
      this.store.patch({ busySince: Date.parse(running.started_at) });
      if (this.state.phase !== 'reconnecting') this.setPhase('waiting');
      last = await this.connect(() => this.chat.resumeStream(), signal);
      if (this.state.phase !== 'reconnecting') attempt = 0;
    }
  }

  /** Runs a request of the chat to its end. */
  private async connect(open: () => Promise<void>, signal: AbortSignal): Promise<StreamEnding> {
    const close = () => void this.chat.stop();
    signal.addEventListener('abort', close);
    this.slowTimer = setTimeout(() => this.store.patch({ slow: true }), SLOW_MS);
    try {
      await open();
    } finally {
      signal.removeEventListener('abort', close);
      this.clearSlow();
      this.store.patch({ status: null });
      if (this.transport.ending.kind !== 'disconnected') this.transcript.beforeReplay = null;
    }
    return signal.aborted ? { kind: 'closed' } : this.transport.ending;
  }

  /** Reads and shows the newest page. `unreachable` means to try again, `stop` means not to. */
  private async read(
    last: StreamEnding | null,
    signal: AbortSignal,
  ): Promise<SessionDetail | 'unreachable' | 'stop'> {
    try {
      const detail = await this.history.readNewest(await this.sessionId(), signal);
      // It was accepted after all: the same text sent again is a new message.
      if (this.transcript.list.some((row) => row.id === this.uncertainSend?.id)) this.uncertainSend = null;
      return detail;
    } catch (error) {
      if (signal.aborted) return 'stop';
      if (isTransientError(error) && last?.kind === 'ended') {
        // The response is complete; what the history adds can wait for the next poll.
        this.history.expectChange();
        return 'stop';
      }
      if (!this.history.isLoaded || !isTransientError(error)) this.store.patch({ loadError: error });
      if (isTransientError(error)) return 'unreachable';
      this.becomeIdle();
      return 'stop';
    }
  }

  private async sendNow(text: string): Promise<void> {
    const id = this.uncertainSend?.text === text ? this.uncertainSend.id : freshId();
    this.uncertainSend = null;
    try {
      if (isBusy(this.state.phase) && (await this.followUps.send(await this.sessionId(), id, text))) return;
      await this.sendMessage(id, text);
    } catch (error) {
      // A refused message wasn't accepted, and a stopped one isn't wanted. In all other cases the outcome is unknown.
      const isUncertain = error instanceof ApiError ? isTransientError(error) : !this.isStopping;
      if (isUncertain) this.uncertainSend = { id, text };
      throw error;
    }
  }

  private sendMessage(id: string, text: string): Promise<void> {
    this.beginTurn();
    return new Promise((resolve, reject) => {
      const pendingSend = { onAccepted: resolve };
      this.pendingSend = pendingSend;
      const work = async (signal: AbortSignal) => {
        const ending = await this.connect(() => this.chat.sendMessage(userMessage(id, text)), signal);
        if (this.pendingSend !== pendingSend) return this.followUntilIdle(ending, signal);
        this.pendingSend = null;
        this.transcript.removeMessage(id);
        this.chat.clearError();
        if (!this.isStopping) this.becomeIdle();
        reject(ending.kind === 'refused' ? ending.error : notSentError());
      };
      this.task.start(work).then((done) => {
        if (done) return;
        if (this.pendingSend === pendingSend) this.pendingSend = null;
        reject(notSentError());
      }, reject);
    });
  }

  private resend(message: CopilotMessage): void {
    this.transcript.removeMessage(message.id);
    const text = message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
    this.sendMessage(message.id, text).catch((error) => {
      this.chat.messages = [...this.chat.messages, message];
      this.fail(error);
    });
  }

  private async regenerate(response: CopilotMessage, signal: AbortSignal): Promise<void> {
    this.beginTurn();
    this.transcript.clearResponse(response);
    const ending = await this.connect(() => this.chat.regenerate({ messageId: response.id }), signal);
    if (ending.kind !== 'refused') return this.followUntilIdle(ending, signal);
    this.chat.clearError();
    await this.followUntilIdle(null, signal);
    this.fail(ending.error);
  }

  /** The session id. Creates the session if this is its first message. */
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

  /** Syncs if another window has continued this session, or an operation has ended. */
  private async checkForChanges(): Promise<void> {
    const { id } = this.state;
    if (!id || !this.task.isIdle) return;
    if ((await this.history.hasChanged(id)) && this.task.isIdle) this.sync();
  }

  private disconnect(): void {
    // Not while a message hasn't been accepted yet, or a stop is in progress.
    if (this.pendingSend || this.isStopping)
      this.disconnectTimer = setTimeout(() => this.disconnect(), DISCONNECT_AFTER_MS);
    else this.task.abort();
  }

  private handleOpen(): void {
    this.pendingSend?.onAccepted();
    this.pendingSend = null;
    if (this.state.phase === 'reconnecting') this.setPhase('waiting');
  }

  private clearSlow(): void {
    clearTimeout(this.slowTimer);
    this.store.patch({ slow: false });
  }

  private beginTurn(): void {
    this.isStopping = false;
    this.followUps.dropReturned();
    this.store.patch({ phase: 'waiting', busySince: Date.now(), error: null, status: null });
  }

  private setPhase(phase: 'waiting' | 'streaming' | 'reconnecting'): void {
    this.store.patch({ phase: this.isStopping ? 'stopping' : phase });
  }

  private becomeIdle(): void {
    this.isStopping = false;
    this.store.patch({ phase: 'ready', busySince: null });
  }

  private fail(error: unknown): void {
    const code = error instanceof ApiError ? error.code : null;
    this.store.patch({ error: { code, message: errorMessage(error), canRetry: true } });
  }
}

function notSentError(): Error {
  return new Error("The message wasn't sent.");
}

/** Retries until the server has received it. */
async function cancelWithRetry(id: string, signal: AbortSignal): Promise<void> {
  for (let attempt = 0; !signal.aborted; attempt++) {
    try {
      return await cancelSession(id, signal);
    } catch (error) {
      if (!isTransientError(error)) return;
      await retryDelay(retryDelayMs(attempt), signal);
    }
  }
}
