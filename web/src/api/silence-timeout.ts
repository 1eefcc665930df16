// Detects a connection that is still open but no longer delivers data.

export class SilenceTimeoutError extends Error {
  constructor() {
    super('No data from the server.');
    this.name = 'SilenceTimeoutError';
  }
}

type Bytes = ReadableStream<Uint8Array>;

/** Passes the bytes through, and fails when none arrive for `silenceMs`. Heartbeats count as data. */
export function withSilenceTimeout(bytes: Bytes, silenceMs: number): Bytes {
  const reader = bytes.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await failOnSilence(reader.read(), silenceMs);
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        reader.cancel(error).catch(() => {});
        throw error;
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** The result of something the server does, or an error when it takes longer than `silenceMs`. */
export async function failOnSilence<T>(result: Promise<T>, silenceMs: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new SilenceTimeoutError()), silenceMs);
  });
  try {
    return await Promise.race([result, silence]);
  } finally {
    clearTimeout(timer);
  }
}
