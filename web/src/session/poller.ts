// Polls for changes made elsewhere while the page is visible.

export class Poller {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isStarted = false;

  constructor(
    private readonly poll: () => Promise<void>,
    private readonly intervalMs: () => number,
  ) {}

  start(): void {
    if (this.isStarted) return;
    this.isStarted = true;
    document.addEventListener('visibilitychange', this.pollNow);
    addEventListener('online', this.pollNow);
    this.schedule();
  }

  stop(): void {
    this.isStarted = false;
    clearTimeout(this.timer);
    document.removeEventListener('visibilitychange', this.pollNow);
    removeEventListener('online', this.pollNow);
  }

  /** Restarts the interval. */
  schedule(): void {
    clearTimeout(this.timer);
    if (this.isStarted) this.timer = setTimeout(this.pollNow, this.intervalMs());
  }

  private readonly pollNow = async (): Promise<void> => {
    clearTimeout(this.timer);
    try {
      if (document.visibilityState === 'visible') await this.poll();
    } finally {
      this.schedule();
    }
  };
}
