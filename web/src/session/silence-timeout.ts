// Detects a connection that is still open but no longer delivers data.

/** The server sends at least a heartbeat every ten seconds. */
export const SILENCE_MS = 30_000;

export class SilenceTimeoutError extends Error {
  constructor() {
    super('No data from the server.');
    this.name = 'SilenceTimeoutError';
  }
}

type Bytes = ReadableStream<Uint8Array>;

/** Passes the bytes through, and fails when none arrive for `silenceMs`. */
export function withSilenceTimeout(bytes: Bytes, silenceMs = SILENCE_MS): Bytes {
  const reader = bytes.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const silence = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new SilenceTimeoutError()), silenceMs);
      });
      try {
        const { done, value } = await Promise.race([reader.read(), silence]);
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        reader.cancel(error).catch(() => {});
        throw error;
      } finally {
        clearTimeout(timer);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
