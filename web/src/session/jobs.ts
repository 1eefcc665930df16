// One piece of work at a time.

type Job = { abort: AbortController; done: Promise<boolean> };

export class Jobs {
  private current: Job | null = null;

  constructor(private readonly onIdle: () => void) {}

  /** Nothing is under way, or what is has been told to end. */
  get isIdle(): boolean {
    return !this.current || this.current.abort.signal.aborted;
  }

  /** Ends what is under way and, when it has ended, does this instead. Tells whether it came to be done. */
  start(work: (signal: AbortSignal) => Promise<void>): Promise<boolean> {
    const before = this.current;
    before?.abort.abort();
    const abort = new AbortController();
    const run = async () => {
      await before?.done;
      const isWanted = !abort.signal.aborted;
      if (isWanted) await work(abort.signal);
      return isWanted;
    };
    const job: Job = { abort, done: Promise.resolve(false) };
    this.current = job;
    job.done = run().finally(() => {
      if (this.current !== job) return;
      this.current = null;
      this.onIdle();
    });
    return job.done;
  }

  halt(): void {
    this.current?.abort.abort();
  }
}
