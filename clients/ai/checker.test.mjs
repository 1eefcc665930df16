// Tests of the checker: it accepts valid streams and names every fault of invalid ones.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkStream, LIVE, OFF_THE_LOG, REPLAY } from './lib/checker.mjs';

const start = { type: 'start', messageId: 'm' };
const open = [start, { type: 'start-step' }];
const close = [{ type: 'finish-step' }, { type: 'finish', finishReason: 'stop' }];
const words = [
  { type: 'text-start', id: 't' },
  { type: 'text-delta', id: 't', delta: 'Hi' },
  { type: 'text-end', id: 't' },
];
const called = [
  { type: 'tool-input-start', toolCallId: 'c', toolName: 'n' },
  { type: 'tool-input-delta', toolCallId: 'c', inputTextDelta: '{}' },
  { type: 'tool-input-available', toolCallId: 'c', toolName: 'n', input: {} },
];
const result = { type: 'tool-output-available', toolCallId: 'c', output: null };
const status = { type: 'data-status', data: {}, transient: true };

function raw(chunks, { retry = 'retry: 1000\n\n', done = 'data: [DONE]\n\n', id = (i) => i + 1 } = {}) {
  return retry + chunks.map((c, i) => `id: ${id(i)}\ndata: ${JSON.stringify(c)}\n\n`).join('') + done;
}

test('a valid stream passes', () => {
  const good = [
    [...open, ...words, ...close],
    [...open, ...called, status, result, { type: 'finish-step' }, { type: 'start-step' }, ...words, ...close],
    [...open, ...words, { type: 'finish-step' }, { type: 'error', errorText: '[code:x] y' }, { type: 'finish' }],
    [...open, ...words, { type: 'finish-step' }, { type: 'abort' }],
    [...open, ...called, { ...result, preliminary: true }, result, ...close],
    [start, { type: 'finish' }],
  ];
  for (const chunks of good) assert.deepEqual(checkStream(raw(chunks), LIVE), chunks);
  assert.ok(checkStream(raw([...open, ...words, ...close], { id: (i) => 3 * i + 1 }), REPLAY));
  assert.ok(checkStream(raw([start, { type: 'finish' }]).replace('id: 2', ': heartbeat\n\nid: 2'), LIVE));
});

test('every fault is named', () => {
  const whole = [...open, ...words, ...close];
  const faults = [
    [raw(whole, { done: '' }), /DONE/],
    [raw(whole, { retry: '' }), /retry/],
    [raw(whole, { id: (i) => i + 2 }), /missing/],
    [raw(whole, { id: () => 1 }), /follows/],
    [raw(whole).slice(0, -1), /empty line/],
    [raw(whole).replace('id: 2', 'event: x\nid: 2'), /not a line/],
    [raw(whole.slice(1)), /before start/],
    [raw([...whole, start]), /after the end/],
    [raw([start, ...whole]), /start comes outside a step/],
    [raw([...open, ...words, { type: 'finish-step' }]), /no end/],
    [raw([...open, ...words, { type: 'finish' }]), /finish comes inside a step/],
    [raw([...open, ...words.slice(0, 2), ...close]), /open/],
    [raw([...open, words[1], ...close]), /not open/],
    [raw([...open, ...words, words[1], ...close]), /not open/],
    [raw([...open, ...words, ...words, ...close]), /twice/],
    [raw([start, ...words, ...close]), /outside a step/],
    [raw([...open, ...called, ...close]), /without a result/],
    [raw([...open, result, ...close]), /unknown/],
    [raw([...open, ...called, result, result, ...close]), /settled/],
    [raw([...open, ...called, { ...result, preliminary: true }, ...close]), /without a result/],
    [raw([start, { type: 'error', errorText: 'x' }, { type: 'abort' }]), /between error and finish/],
    [raw([start, { type: 'ping' }, { type: 'finish' }]), /portable chunk type/],
    [raw([start, { type: 'finish', finishReason: null }]), /refuse/],
    [raw([start, { type: 'finish', extra: 1 }]), /extra/],
    [raw([start, { type: 'finish', finishReason: 'interrupted' }]), /refuse/],
    [raw([{ type: 'start', messageId: null }, { type: 'finish' }]), /refuse/],
    [raw([start, { type: 'data-x' }, { type: 'finish' }]), /lacks data/],
    [raw([...open, ...called, { ...result, output: JSON.parse('{"__proto__":1}') }, ...close]), /__proto__/],
    [raw([...open, ...called, { ...result, output: { constructor: { prototype: 1 } } }, ...close]), /constructor/],
  ];
  for (const [stream, name] of faults) assert.throws(() => checkStream(stream, LIVE), name, stream);
  assert.throws(() => checkStream(raw([start, status, { type: 'finish' }]), REPLAY), /repeats/);
  assert.throws(() => checkStream(raw([start, { type: 'finish' }]), OFF_THE_LOG), /has an id/);
});
