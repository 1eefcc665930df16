// One call of a tool as its card sees it: whatever state the stream or the history has left it in.

import type { Response, ResponseType } from '@/protocol';
import { asRecord, parsed } from './records';
import { type AnyCardKind, kindOf } from './registry';
import type { Input } from './tool-words';
import type { Standing, ToolPart, When } from './types';

export type Call = {
  tool: string;
  input: Input;
  standing: Standing;
  /** What the tool has answered, where it is an answer we have a card for. */
  answer: { response: AnyResponse; kind: AnyCardKind } | null;
  /** The same as it came, for whoever wants to see it. */
  output: unknown;
  /** Why it failed, in words. */
  failure: string | null;
};

export type AnyResponse = { type: ResponseType; message?: unknown };

export function toolOf(part: ToolPart): string {
  return part.type === 'dynamic-tool' ? part.toolName : part.type.slice('tool-'.length);
}

export function readCall(part: ToolPart, when: When): Call {
  const { live } = when;
  const call: Call = {
    tool: toolOf(part),
    input: asRecord(part.input),
    standing: 'running',
    answer: null,
    output: undefined,
    failure: null,
  };
  switch (part.state) {
    case 'input-streaming':
      return { ...call, standing: live ? 'preparing' : 'stopped' };
    case 'input-available':
    case 'approval-requested':
    case 'approval-responded':
      return { ...call, standing: live ? 'running' : 'stopped' };
    case 'output-denied':
      return { ...call, standing: 'failed', failure: 'It was not allowed.' };
    case 'output-error':
      return { ...call, standing: 'failed', failure: part.errorText || 'It failed without a word.' };
    case 'output-available':
      return answered(call, part.output, part.preliminary === true, when);
  }
}

function answered(call: Call, raw: unknown, preliminary: boolean, when: When): Call {
  const output = parsed(raw);
  // The history has nothing to show for a call that was cut short.
  if (output === '' || output === null || output === undefined) {
    return { ...call, standing: 'stopped', output: undefined };
  }
  const answer = answerIn(output);
  const standing = preliminary && when.live ? 'running' : answer ? standingOf(answer, when) : 'done';
  // Other answers that are failures have more to say in their row than their sentence.
  const message = answer?.response.type === 'error' ? answer.response.message : null;
  const failure = typeof message === 'string' && message ? message : null;
  return { ...call, output, answer, standing, failure };
}

export function answerIn(output: unknown): Call['answer'] {
  const { type } = asRecord(output);
  // What an operation came to is kept as its service has sent it, without a kind.
  if (typeof type !== 'string') return { response: external(output), kind: kindOf('external_tool_output') };
  const kind = kindOf(type);
  return kind ? { response: output as AnyResponse, kind } : null;
}

function external(output: unknown): Response<'external_tool_output'> {
  return { type: 'external_tool_output', message: '', tool: '', output };
}

function standingOf({ response, kind }: NonNullable<Call['answer']>, when: When): Standing {
  return safely(() => kind.standing?.(response as never, when)) ?? 'done';
}

/** What the answer has to say about itself in the row of its call. */
export function wordsOfAnswer(answer: Call['answer'], which: 'phrase' | 'note'): string | null {
  const words = answer && safely(() => answer.kind[which]?.(answer.response as never));
  return typeof words === 'string' && words ? words : null;
}

export function opensByItself(answer: Call['answer']): boolean {
  if (!answer) return false;
  const { opens } = answer.kind;
  return typeof opens === 'function'
    ? safely(() => opens(answer.response as never)) === true
    : opens === true;
}

/** What tools send is not to be trusted: a field may be missing where the protocol promises one. */
function safely<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
