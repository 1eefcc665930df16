// The chunks and fields that every client since `ai` 6.0.0 accepts, written by hand. Older schemas are strict: an
// unknown field breaks the stream.

const text = (value) => typeof value === 'string';
const flag = (value) => typeof value === 'boolean';
const object = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const anything = () => true;
const reason = (value) =>
  ['stop', 'length', 'content-filter', 'tool-calls', 'error', 'other'].includes(value);

const part = { required: { id: text }, optional: {} };
const delta = { required: { id: text, delta: text }, optional: {} };
const bare = { required: {}, optional: {} };
const call = { toolCallId: text };

const table = {
  start: { required: { messageId: text }, optional: { messageMetadata: object } },
  'start-step': bare,
  'finish-step': bare,
  'text-start': part,
  'text-delta': delta,
  'text-end': part,
  'reasoning-start': part,
  'reasoning-delta': delta,
  'reasoning-end': part,
  'tool-input-start': { required: { ...call, toolName: text }, optional: { dynamic: flag } },
  'tool-input-delta': { required: { ...call, inputTextDelta: text }, optional: {} },
  'tool-input-available': {
    required: { ...call, toolName: text, input: anything },
    optional: { dynamic: flag },
  },
  'tool-input-error': {
    required: { ...call, toolName: text, input: anything, errorText: text },
    optional: { dynamic: flag },
  },
  'tool-output-available': {
    required: { ...call, output: anything },
    optional: { dynamic: flag, preliminary: flag },
  },
  'tool-output-error': { required: { ...call, errorText: text }, optional: { dynamic: flag } },
  error: { required: { errorText: text }, optional: {} },
  abort: bare,
  finish: { required: {}, optional: { finishReason: reason, messageMetadata: object } },
};
const data = { required: { data: anything }, optional: { id: text, transient: flag } };

/** Throws when a chunk is not one that every client accepts. */
export function checkShape(chunk) {
  const { type, ...fields } = chunk;
  const shape = /^data-[a-z-]+$/.test(type) ? data : Object.hasOwn(table, type) && table[type];
  if (!shape) throw new Error(`${JSON.stringify(type)} is not a portable chunk type`);
  for (const name of Object.keys(shape.required)) {
    if (!(name in fields)) throw new Error(`${type} lacks ${name}`);
  }
  for (const [name, value] of Object.entries(fields)) {
    const accepts = shape.required[name] ?? shape.optional[name];
    if (!accepts) throw new Error(`${type} has a field that old clients refuse: ${name}`);
    if (!accepts(value)) throw new Error(`${type}.${name} has a value that clients refuse`);
  }
  refusePollution(fields);
}

/** The SDK throws on keys that could reach an object's prototype. */
function refusePollution(value) {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    const reaches = key === 'constructor' && object(inner) && Object.hasOwn(inner, 'prototype');
    if (key === '__proto__' || reaches) throw new Error(`the key ${key} kills the client's stream`);
    refusePollution(inner);
  }
}
