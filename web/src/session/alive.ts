// A connection on which nothing comes any more, although nobody has closed it.

/** The server says something at least every ten seconds. */
export const SILENCE_MS = 30_000;

export class Silence extends Error {
  constructor() {
    super('The connection has gone silent.');
    this.name = 'Silence';
  }
}

/** The same bytes; breaks off when none come for too long. */
type Bytes = ReadableStream<Uint8Array>;

export function alive(bytes: Bytes, silenceMs = SILENCE_MS): Bytes {
  const reader = bytes.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const silence = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Silence()), silenceMs);
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
