import { describe, expect, it } from 'vitest';
import { EventDecoder, eventsOf } from './event-stream';

const TEXT =
  'retry: 1000\n\n: heartbeat\n\nid: 1\nevent: node_execution_event\ndata: {"a":"ü"}\n\ndata: one\r\ndata:two\r\n\r\nid: 7\revent: x\rdata\r\rdata: [DONE]\n\ndata: cut off';

const EVENTS = [
  { id: '1', name: 'node_execution_event', data: '{"a":"ü"}' },
  { id: null, name: 'message', data: 'one\ntwo' },
  { id: '7', name: 'x', data: '' },
  { id: null, name: 'message', data: '[DONE]' },
];

describe('EventDecoder', () => {
  it('decodes events with any line endings, and skips comments and an incomplete event', () => {
    expect(new EventDecoder().push(TEXT)).toEqual(EVENTS);
  });

  it.each([1, 2, 3, 5, 7, 11])('decodes pieces of %i bytes, also split within a character', async (size) => {
    const bytes = new TextEncoder().encode(TEXT);
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
        controller.close();
      },
    });
    const read = [];
    for await (const event of eventsOf(body)) read.push(event);
    expect(read).toEqual(EVENTS);
  });

  it('cancels the body when the consumer stops', async () => {
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('data: 1\n\n')),
      cancel: () => {
        cancelled = true;
      },
    });
    for await (const _ of eventsOf(body)) break;
    expect(cancelled).toBe(true);
  });

  it('ignores an id with a zero byte', () => {
    expect(new EventDecoder().push('id: a\0b\ndata: x\n\n')).toEqual([
      { id: null, name: 'message', data: 'x' },
    ]);
  });

  it('decodes a large event from small pieces in linear time', () => {
    const decoder = new EventDecoder();
    decoder.push('data: ');
    const piece = 'x'.repeat(1000);
    for (let count = 0; count < 5000; count++) decoder.push(piece);
    expect(decoder.push('\n\n')[0]?.data.length).toBe(5_000_000);
  });
});
