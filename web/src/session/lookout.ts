// Looks every now and then whether something has happened elsewhere, while somebody looks at the page.

export class Lookout {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isOn = false;

  constructor(
    private readonly look: () => Promise<void>,
    private readonly pauseMs: () => number,
  ) {}

  start(): void {
    if (this.isOn) return;
    this.isOn = true;
    document.addEventListener('visibilitychange', this.now);
    addEventListener('online', this.now);
    this.later();
  }

  stop(): void {
    this.isOn = false;
    clearTimeout(this.timer);
    document.removeEventListener('visibilitychange', this.now);
    removeEventListener('online', this.now);
  }

  /** Counts the pause from now on. */
  later(): void {
    clearTimeout(this.timer);
    if (this.isOn) this.timer = setTimeout(this.now, this.pauseMs());
  }

  private readonly now = async (): Promise<void> => {
    clearTimeout(this.timer);
    try {
      if (document.visibilityState === 'visible') await this.look();
    } finally {
      this.later();
    }
  };
}
