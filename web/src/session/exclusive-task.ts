// Runs one task at a time.

type RunningTask = { abort: AbortController; done: Promise<boolean> };

export class ExclusiveTask {
  private current: RunningTask | null = null;

  constructor(private readonly onIdle: () => void) {}

  /** Whether no task is running, or the running one has been aborted. */
  get isIdle(): boolean {
    return !this.current || this.current.abort.signal.aborted;
  }

  /** Aborts the running task, waits for it to end, and runs this one. Resolves to whether it was run. */
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
    const task: RunningTask = { abort, done: Promise.resolve(false) };
    this.current = task;
    task.done = run().finally(() => {
      if (this.current !== task) return;
      this.current = null;
      this.onIdle();
    });
    return task.done;
  }

  abort(): void {
    this.current?.abort.abort();
  }
}
