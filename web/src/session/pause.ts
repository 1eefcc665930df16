// Waiting that ends early when there is reason to think that the network is back.

const PAUSES_MS = [1_000, 2_000, 4_000];
const LONGEST_MS = 5_000;

/** How long to wait before the next attempt: 1, 2, 4, then 5 s. */
export function pauseMs(attempt: number): number {
  return PAUSES_MS[attempt] ?? LONGEST_MS;
}

/** Resolves after the time, when the browser is online again, when the page is looked at again, or when aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      removeEventListener('online', done);
      document.removeEventListener('visibilitychange', looked);
      resolve();
    };
    const looked = () => {
      if (document.visibilityState === 'visible') done();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
    addEventListener('online', done);
    document.addEventListener('visibilitychange', looked);
    if (signal.aborted) done();
  });
}
