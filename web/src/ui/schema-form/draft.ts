// What somebody has typed, and what it means. A draft is kept as it was typed, also while it means nothing yet.

import type { FieldSpec, Kind } from './schema';

export type Row = Record<string, unknown>;
export type Draft = string | boolean | string[] | Row[];

export type Reading = { value: unknown } | { error: string } | { absent: true };

const ABSENT: Reading = { absent: true };
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** The draft that stands for a value that is already there. */
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
      return asList(value).map(written);
    case 'table':
      return asList(value).map((row) => (isRecord(row) ? row : {}));
    case 'json':
      return value === undefined || value === null ? '' : JSON.stringify(value, null, 2);
    case 'text':
      return kind.format === 'date-time' ? localMoment(written(value)) : written(value);
    default:
      return written(value);
  }
}

/** What the draft means for the field, or what is wrong with it. `start` is the value that was there before. */
export function read(field: FieldSpec, draft: Draft, start: unknown = field.default): Reading {
  if (isEmpty(draft)) return empty(field, draft);
  const { kind } = field;
  switch (kind.is) {
    case 'text':
      // A moment that was not touched keeps its seconds, which the picker does not show.
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
      // Off, where nothing was said before, says nothing either.
      return draft || field.required || hasContent(start) ? { value: draft } : ABSENT;
  }
}

/** A date or a time that a picker can show; everything else is shown as text, so that it is not lost. */
export function fitsPicker(format: string, draft: string): boolean {
  if (!draft) return true;
  if (format === 'date') return DATE.test(draft);
  if (format === 'time') return TIME.test(draft);
  return format === 'date-time' && /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(draft) && !hasZone(draft);
}

/** A text of several lines: one for each entry. */
export function lines(text: string): string[] {
  return text.split(/\r?\n/).filter((line) => line.trim());
}

function empty(field: FieldSpec, draft: Draft): Reading {
  if (field.required) return { error: field.kind.is === 'choice' ? 'Choose one.' : 'Fill this in.' };
  // Whoever empties a field that had something in it means to send nothing, not to get the default back.
  if (hasContent(field.default)) {
    if (field.kind.is === 'text' || field.kind.is === 'anything') return { value: '' };
    if (Array.isArray(draft)) return { value: [] };
  }
  return ABSENT;
}

function readText(kind: Extract<Kind, { is: 'text' }>, text: string): Reading {
  if (kind.format === 'date-time' && fitsPicker(kind.format, text)) {
    const time = new Date(text);
    return Number.isNaN(time.getTime())
      ? { error: 'This is no date and time.' }
      : { value: time.toISOString() };
  }
  if (kind.minLength !== undefined && text.length < kind.minLength) {
    return { error: `At least ${kind.minLength} characters.` };
  }
  if (kind.maxLength !== undefined && text.length > kind.maxLength) {
    return { error: `At most ${kind.maxLength} characters; there are ${text.length}.` };
  }
  return { value: text };
}

function readNumber(kind: Extract<Kind, { is: 'number' }>, typed: string): Reading {
  const value = numberIn(typed);
  if (value === undefined) return { error: 'Give a number, with a point before the decimals.' };
  if (kind.integer && !Number.isInteger(value)) return { error: 'Give a whole number.' };
  if (kind.integer && !Number.isSafeInteger(value)) return { error: 'This number is too large.' };
  if (kind.minimum !== undefined && value < kind.minimum) return { error: `At least ${kind.minimum}.` };
  if (kind.maximum !== undefined && value > kind.maximum) return { error: `At most ${kind.maximum}.` };
  return { value };
}

function readList(of: 'text' | 'number' | 'integer', entries: string[]): Reading {
  const given = entries.filter((entry) => entry.trim());
  if (of === 'text') return { value: given };
  const values = given.map(numberIn);
  const wrong = values.findIndex(
    (value) => value === undefined || (of === 'integer' && !Number.isInteger(value)),
  );
  if (wrong >= 0) return { error: `“${given[wrong]}” is no ${of === 'integer' ? 'whole ' : ''}number.` };
  return { value: values };
}

function readAnything(start: unknown, text: string): Reading {
  // What was there and was not touched stays what it was: a number does not become text.
  if (start !== undefined && text === written(start)) return { value: start };
  if (!/^\s*[[{]/.test(text)) return { value: text };
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { value: text };
  }
}

function readJson(type: 'object' | 'array' | undefined, text: string): Reading {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { error: `This is no JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  if (type === 'array' && !Array.isArray(value)) return { error: 'Give a list: [ … ].' };
  if (type === 'object' && !isRecord(value)) return { error: 'Give an object: { … }.' };
  return { value };
}

/** A comma is refused: "1,000" is a thousand to some and one to others. */
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

/** A value as it stands in a field for text. */
export function written(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value);
}

/** A moment as the picker for the local time wants it. */
function localMoment(value: string): string {
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

function isRecord(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
