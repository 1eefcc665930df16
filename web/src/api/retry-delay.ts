// A retry delay that ends early when the network is probably back.

const DELAYS_MS = [1_000, 2_000, 4_000];
const MAX_DELAY_MS = 5_000;

/** The delay before the next attempt: 1, 2, 4, then 5 s. */
export function retryDelayMs(attempt: number): number {
  return DELAYS_MS[attempt] ?? MAX_DELAY_MS;
}

/** Resolves after the delay, when the browser comes online, when the page becomes visible, or on abort. */
export function retryDelay(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      removeEventListener('online', done);
      document.removeEventListener('visibilitychange', onVisibilityChange);
      resolve();
    };
    const onVisibilityChange = () => {
      if (document.visibilityState === 'visible') done();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
    addEventListener('online', done);
    document.addEventListener('visibilitychange', onVisibilityChange);
    if (signal.aborted) done();
  });
}
