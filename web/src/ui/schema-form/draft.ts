// Drafts of form fields: the text as typed, even while it is invalid, and its conversion to a value.

import { asRecord, isRecord, parseJson } from '@/lib/json';
import type { FieldKind, FieldSpec } from './schema';

export type Row = Record<string, unknown>;
export type Draft = string | boolean | string[] | Row[];

export type DraftResult = { value: unknown } | { error: string } | { absent: true };

const ABSENT: DraftResult = { absent: true };
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** The draft for an existing value. */
export function draftOf({ kind }: FieldSpec, value: unknown): Draft {
  switch (kind.is) {
    case 'boolean':
      return value === true || value === 'true';
    case 'choice':
      return indexOf(kind.choices, value);
    case 'choices':
      return asList(value)
        .map((one) => indexOf(kind.choices, one))
        .filter((index) => index !== '');
    case 'list':
      return asList(value).map(asText);
    case 'table':
      return asList(value).map(asRecord);
    case 'json':
      return value === undefined || value === null ? '' : JSON.stringify(value, null, 2);
    case 'text':
      return kind.format === 'date-time' ? localDateTime(asText(value)) : asText(value);
    default:
      return asText(value);
  }
}

/** Converts a draft to the field's value, or reports an error. `start` is the initial value. */
export function readDraft(field: FieldSpec, draft: Draft, start: unknown = field.default): DraftResult {
  if (isEmpty(draft)) return empty(field, draft);
  const { kind } = field;
  switch (kind.is) {
    case 'text':
      // An unchanged date and time keeps its seconds, which the picker doesn't show.
      if (kind.format === 'date-time' && hasContent(start) && draft === draftOf(field, start)) {
        return { value: start };
      }
      return readText(kind, String(draft));
    case 'number':
      return readNumber(kind, String(draft));
    case 'choice':
      return { value: kind.choices[Number(draft)]?.value };
    case 'choices':
      return { value: (draft as string[]).map((index) => kind.choices[Number(index)]?.value) };
    case 'list':
      return readList(kind.of, draft as string[]);
    case 'table':
      return { value: (draft as Row[]).filter((row) => !isEmptyRow(row)) };
    case 'anything':
      return readAnything(start, String(draft));
    case 'json':
      return readJson(kind.type, String(draft));
    case 'boolean':
      // A switch that stays off and was never set is omitted.
      return draft || field.required || hasContent(start) ? { value: draft } : ABSENT;
  }
}

/** Whether a picker can show the date or time; other drafts are shown as text, so that nothing is lost. */
export function fitsPicker(format: string, draft: string): boolean {
  if (!draft) return true;
  if (format === 'date') return DATE.test(draft);
  if (format === 'time') return TIME.test(draft);
  return format === 'date-time' && /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(draft) && !hasZone(draft);
}

/** The non-empty lines of a text. */
export function nonEmptyLines(text: string): string[] {
  return text.split(/\r?\n/).filter((line) => line.trim());
}

function empty(field: FieldSpec, draft: Draft): DraftResult {
  if (field.required) return { error: field.kind.is === 'choice' ? 'Choose an option.' : 'Required.' };
  // Clearing a field that has a default means sending an empty value, not the default.
  if (hasContent(field.default)) {
    if (field.kind.is === 'text' || field.kind.is === 'anything') return { value: '' };
    if (Array.isArray(draft)) return { value: [] };
  }
  return ABSENT;
}

function readText(kind: Extract<FieldKind, { is: 'text' }>, text: string): DraftResult {
  if (kind.format === 'date-time' && fitsPicker(kind.format, text)) {
    const time = new Date(text);
    return Number.isNaN(time.getTime())
      ? { error: 'Enter a valid date and time.' }
      : { value: time.toISOString() };
  }
  if (kind.minLength !== undefined && text.length < kind.minLength) {
    return { error: `Enter at least ${kind.minLength} characters.` };
  }
  if (kind.maxLength !== undefined && text.length > kind.maxLength) {
    return { error: `Enter at most ${kind.maxLength} characters (currently ${text.length}).` };
  }
  return { value: text };
}

function readNumber(kind: Extract<FieldKind, { is: 'number' }>, typed: string): DraftResult {
  const value = numberIn(typed);
  if (value === undefined) return { error: 'Enter a number, for example 12.5.' };
  if (kind.integer && !Number.isInteger(value)) return { error: 'Enter a whole number.' };
  if (kind.integer && !Number.isSafeInteger(value)) return { error: 'Enter a smaller number.' };
  if (kind.minimum !== undefined && value < kind.minimum) return { error: `Enter ${kind.minimum} or more.` };
  if (kind.maximum !== undefined && value > kind.maximum) return { error: `Enter ${kind.maximum} or less.` };
  return { value };
}

function readList(of: 'text' | 'number' | 'integer', entries: string[]): DraftResult {
  const given = entries.filter((entry) => entry.trim());
  if (of === 'text') return { value: given };
  const values = given.map(numberIn);
  const wrong = values.findIndex(
    (value) => value === undefined || (of === 'integer' && !Number.isInteger(value)),
  );
  if (wrong >= 0) return { error: `“${given[wrong]}” isn't a ${of === 'integer' ? 'whole ' : ''}number.` };
  return { value: values };
}

function readAnything(start: unknown, text: string): DraftResult {
  // An unchanged value keeps its type: a number doesn't become text.
  if (start !== undefined && text === asText(start)) return { value: start };
  return { value: /^\s*[[{]/.test(text) ? parseJson(text, text) : text };
}

function readJson(type: 'object' | 'array' | undefined, text: string): DraftResult {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { error: `Enter valid JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  if (type === 'array' && !Array.isArray(value)) return { error: 'Enter a list: [ … ].' };
  if (type === 'object' && !isRecord(value)) return { error: 'Enter an object: { … }.' };
  return { value };
}

/** Commas are rejected: "1,000" means a thousand in some countries and one in others. */
function numberIn(typed: string): number | undefined {
  const text = typed.trim();
  const value = NUMBER.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : undefined;
}

function isEmpty(draft: Draft): boolean {
  if (typeof draft === 'string') return draft.trim() === '';
  if (!Array.isArray(draft)) return false;
  return (draft as unknown[]).every((one) =>
    typeof one === 'string' ? one.trim() === '' : isEmptyRow(one as Row),
  );
}

function isEmptyRow(row: Row): boolean {
  return Object.values(row).every((cell) => cell === '' || cell === null || cell === undefined);
}

function hasContent(value: unknown): boolean {
  return (
    value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0)
  );
}

function indexOf(choices: { value: unknown }[], value: unknown): string {
  if (value === undefined) return '';
  const same = JSON.stringify(value);
  const index = choices.findIndex((choice) => JSON.stringify(choice.value) === same);
  return index < 0 ? '' : String(index);
}

/** A value as text for an input. */
export function asText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value);
}

/** A date and time in the format of the local picker. */
function localDateTime(value: string): string {
  const time = new Date(value);
  if (!hasZone(value) || Number.isNaN(time.getTime())) return value;
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

function hasZone(value: string): boolean {
  return /(Z|[+-]\d{2}:?\d{2})$/i.test(value);
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
