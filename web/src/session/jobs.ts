// One piece of work at a time.

type Job = { abort: AbortController; done: Promise<void> };

export class Jobs {
  private current: Job | null = null;

  constructor(private readonly onIdle: () => void) {}

  /** Nothing is under way, or what is has been told to end. */
  get isIdle(): boolean {
    return !this.current || this.current.abort.signal.aborted;
  }

  /** Ends what is under way and, when it has ended, does this instead. */
  start(work: (signal: AbortSignal) => Promise<void>): void {
    const before = this.current;
    before?.abort.abort();
    const abort = new AbortController();
    const run = async () => {
      await before?.done;
      if (!abort.signal.aborted) await work(abort.signal);
    };
    const job: Job = { abort, done: Promise.resolve() };
    this.current = job;
    job.done = run().finally(() => {
      if (this.current !== job) return;
      this.current = null;
      this.onIdle();
    });
  }

  halt(): void {
    this.current?.abort.abort();
  }
}
