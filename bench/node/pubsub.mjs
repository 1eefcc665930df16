// The part of Redis that `resumable-stream` uses, in memory.

export function memoryPubSub() {
  const values = new Map();
  const channels = new Map();
  const subscriber = {
    async connect() {},
    async subscribe(channel, callback) {
      channels.set(channel, callback);
    },
    async unsubscribe(channel) {
      channels.delete(channel);
    },
  };
  const publisher = {
    async connect() {},
    async publish(channel, message) {
      const callback = channels.get(channel);
      callback?.(message);
      return callback ? 1 : 0;
    },
    async set(key, value) {
      values.set(key, value);
      return 'OK';
    },
    async get(key) {
      return values.get(key) ?? null;
    },
    async incr(key) {
      const next = Number(values.get(key) ?? 0) + 1;
      values.set(key, String(next));
      return next;
    },
  };
  return { publisher, subscriber };
}
