// One tool call as its card shows it, read from a message part of the stream or of the history.

import { asRecord, parseJson } from '@/lib/json';
import type { Response, ResponseType } from '@/protocol';
import { type AnyCardKind, kindOf } from './registry';
import type { LabelsFor, ToolInput } from './tool-labels';
import { toolOf } from './tool-of';
import type { CallContext, CallStatus, ToolPart } from './types';

export type Call = {
  tool: string;
  input: ToolInput;
  status: CallStatus;
  /** The tool's response and its card; null if there is no card for it. */
  result: { response: AnyResponse; kind: AnyCardKind } | null;
  /** The output with JSON text parsed, for the details and the generic card. */
  output: unknown;
  /** Error message to show to the user. */
  failure: string | null;
};

export type AnyResponse = { type: ResponseType; message?: unknown };

export function readCall(part: ToolPart, context: CallContext): Call {
  const { live } = context;
  const call: Call = {
    tool: toolOf(part),
    input: asRecord(part.input),
    status: 'running',
    result: null,
    output: undefined,
    failure: null,
  };
  switch (part.state) {
    case 'input-streaming':
      return { ...call, status: live ? 'preparing' : 'stopped' };
    case 'input-available':
    case 'approval-requested':
    case 'approval-responded':
      return { ...call, status: live ? 'running' : 'stopped' };
    case 'output-denied':
      return { ...call, status: 'failed', failure: 'This call was not allowed.' };
    case 'output-error':
      return { ...call, status: 'failed', failure: part.errorText || 'Failed with no error message.' };
    case 'output-available':
      return withOutput(call, part.output, part.preliminary === true, context);
  }
}

function withOutput(call: Call, raw: unknown, preliminary: boolean, context: CallContext): Call {
  const output = parseOutput(raw);
  // The history stores an empty output for a call that was interrupted.
  if (output === '' || output === null || output === undefined) {
    return { ...call, status: 'stopped', output: undefined };
  }
  const result = parseResult(output);
  const status = preliminary && context.live ? 'running' : result ? statusOf(result, context) : 'done';
  // Other failed responses have a phrase of their own, which says more than their message.
  const message = result?.response.type === 'error' ? result.response.message : null;
  const failure = typeof message === 'string' && message ? message : null;
  return { ...call, output, result, status, failure };
}

/** Parses output that was stored as JSON text. */
export function parseOutput(output: unknown): unknown {
  return typeof output === 'string' && /^\s*[{[]/.test(output) ? parseJson(output, output) : output;
}

export function parseResult(output: unknown): Call['result'] {
  const { type } = asRecord(output);
  // The result of an operation is stored as its service sent it, without a `type`.
  if (typeof type !== 'string') return { response: external(output), kind: kindOf('external_tool_output') };
  const kind = kindOf(type);
  return kind ? { response: output as AnyResponse, kind } : null;
}

function external(output: unknown): Response<'external_tool_output'> {
  return { type: 'external_tool_output', message: '', tool: '', output };
}

function statusOf({ response, kind }: NonNullable<Call['result']>, context: CallContext): CallStatus {
  return safely(() => kind.status?.(response as never, context)) ?? 'done';
}

/** The phrase or note that the result's card provides for the row of its call. */
export function resultText(
  { result, tool }: Call,
  which: 'phrase' | 'note',
  labelsFor: LabelsFor,
): string | null {
  const text = result && safely(() => result.kind[which]?.(result.response as never, labelsFor, tool));
  return typeof text === 'string' && text ? text : null;
}

export function opensByDefault(result: Call['result']): boolean {
  if (!result) return false;
  const { opens } = result.kind;
  return typeof opens === 'function'
    ? safely(() => opens(result.response as never)) === true
    : opens === true;
}

/** Tool output is untrusted: fields that the protocol requires may be missing. Returns null if reading throws. */
function safely<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
