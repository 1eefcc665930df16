// Reads a JSON schema as a list of form fields. Schemas come from untrusted agents, so nothing about their shape is
// assumed: unsupported parts become JSON fields.

import { asRecord } from '@/lib/json';
import { humanName } from '../text/names';

export type Choice = { label: string; value: unknown };

export type TextFormat = 'plain' | 'date' | 'time' | 'date-time' | 'email' | 'url' | 'file' | 'secret';

export type FieldKind =
  | { is: 'text'; format: TextFormat; long: boolean; minLength?: number; maxLength?: number }
  | { is: 'number'; integer: boolean; minimum?: number; maximum?: number }
  | { is: 'boolean' }
  | { is: 'choice'; choices: Choice[] }
  /** Multiple choice. */
  | { is: 'choices'; choices: Choice[] }
  /** A list of short values. */
  | { is: 'list'; of: 'text' | 'number' | 'integer' }
  | { is: 'table'; columns: string[] }
  /** Text, or JSON if it starts like JSON. */
  | { is: 'anything' }
  | { is: 'json'; type?: 'object' | 'array' };

export type FieldSpec = {
  name: string;
  label: string;
  description?: string;
  placeholder?: string;
  required: boolean;
  /** Hidden under "More options". */
  advanced: boolean;
  default?: unknown;
  kind: FieldKind;
};

type Schema = Record<string, unknown>;

/** Limits for hostile schemas, which would otherwise stall the page. */
const MAX_CHOICES = 500;
const MAX_FIELDS = 300;
const MAX_COLUMNS = 30;
/** How long a chain of references may be. */
const MAX_REFERENCES = 8;

export function fieldsOf(schema: unknown): FieldSpec[] {
  const root = asRecord(schema);
  const properties = asRecord(root.properties);
  const required = new Set(Array.isArray(root.required) ? root.required : []);
  return Object.entries(properties)
    .slice(0, MAX_FIELDS)
    .map(([name, property]) => fieldOf(name, resolveReferences(property, root), required.has(name)));
}

function fieldOf(name: string, schema: Schema, required: boolean): FieldSpec {
  return {
    name,
    label: humanName(text(schema.title) ?? name) || name,
    description: text(schema.description),
    placeholder: text(schema.placeholder),
    required,
    advanced: schema.advanced === true && !required,
    default: schema.default,
    kind: kindOf(schema, name),
  };
}

function kindOf(schema: Schema, name: string): FieldKind {
  const choices = choicesOf(schema);
  if (choices) return { is: 'choice', choices };
  switch (typeOf(schema)) {
    case 'string':
      return textOf(schema, name);
    case 'integer':
    case 'number':
      return {
        is: 'number',
        integer: typeOf(schema) === 'integer',
        minimum: number(schema.minimum),
        maximum: number(schema.maximum),
      };
    case 'boolean':
      return { is: 'boolean' };
    case 'array':
      return arrayOf(schema);
    case 'object':
      return { is: 'json', type: 'object' };
    case undefined:
      return isSecret(schema) ? textOf(schema, name) : { is: 'anything' };
    default:
      return { is: 'json' };
  }
}

function textOf(schema: Schema, name: string): FieldKind {
  const maxLength = number(schema.maxLength);
  const format = formatOf(schema);
  const isLong =
    schema.format === 'long-text' ||
    schema.format === 'textarea' ||
    (maxLength !== undefined && maxLength > 200) ||
    (schema.format === undefined &&
      /(^|_)(text|body|content|prompt|message|instructions|template|notes)$/i.test(name));
  return {
    is: 'text',
    format,
    long: format === 'plain' && isLong,
    minLength: number(schema.minLength),
    maxLength,
  };
}

function formatOf(schema: Schema): TextFormat {
  if (isSecret(schema)) return 'secret';
  switch (schema.format) {
    case 'date':
    case 'time':
    case 'date-time':
    case 'email':
    case 'file':
      return schema.format;
    case 'uri':
    case 'url':
      return 'url';
    default:
      return 'plain';
  }
}

function isSecret(schema: Schema): boolean {
  return schema.secret === true || schema.format === 'password' || schema.writeOnly === true;
}

function arrayOf(schema: Schema): FieldKind {
  const items = asRecord(schema.items);
  const choices = choicesOf(items);
  if (choices) return { is: 'choices', choices };
  const type = typeOf(items);
  if (type === 'string') return { is: 'list', of: 'text' };
  if (type === 'integer' || type === 'number') return { is: 'list', of: type };
  const columns = Object.entries(asRecord(items.properties));
  const isPlain = columns.every(([, column]) => typeOf(asRecord(column)) === 'string');
  if (type === 'object' && isPlain && columns.length > 0 && columns.length <= MAX_COLUMNS) {
    return { is: 'table', columns: columns.map(([column]) => column) };
  }
  return { is: 'json', type: 'array' };
}

function choicesOf(schema: Schema): Choice[] | undefined {
  const values = Array.isArray(schema.enum) ? schema.enum : constants(schema);
  // Very long or empty lists are better typed than chosen from.
  if (!values || values.length === 0 || values.length > MAX_CHOICES) return undefined;
  return values
    .filter((value) => value !== null)
    .map((value) => ({ value, label: typeof value === 'string' ? value : JSON.stringify(value) }));
}

/** `oneOf: [{const: "a"}, {const: "b"}]` also lists choices. */
function constants(schema: Schema): unknown[] | undefined {
  const alternatives = schema.oneOf ?? schema.anyOf;
  if (!Array.isArray(alternatives) || alternatives.length === 0) return undefined;
  const all = alternatives.map(asRecord);
  return all.every((one) => 'const' in one) ? all.map((one) => one.const) : undefined;
}

/** The only type besides null, or `undefined` if none is named. */
function typeOf(schema: Schema): string | undefined {
  const { type } = schema;
  if (typeof type === 'string') return type;
  if (Array.isArray(type)) {
    const types = type.filter((one) => one !== 'null');
    return types.length === 1 ? String(types[0]) : 'mixed';
  }
  if ('properties' in schema) return 'object';
  if ('items' in schema) return 'array';
  return ['anyOf', 'oneOf', 'allOf', '$ref', 'not', 'if'].some((key) => key in schema) ? 'mixed' : undefined;
}

/** Follows references within the schema, and unwraps a union of null and one alternative. */
function resolveReferences(property: unknown, root: Schema): Schema {
  let schema = asRecord(property);
  for (let step = 0; step < MAX_REFERENCES; step++) {
    const next = followReference(schema, root);
    if (!next) return schema;
    // Keywords at the reference override those of the definition.
    const { $ref, anyOf, oneOf, allOf, ...own } = schema;
    schema = { ...next, ...own };
  }
  return { title: schema.title, description: schema.description, type: 'mixed' };
}

function followReference(schema: Schema, root: Schema): Schema | undefined {
  const reference = text(schema.$ref);
  if (reference) return definition(reference, root);
  for (const key of ['anyOf', 'oneOf', 'allOf']) {
    const alternatives = schema[key];
    if (!Array.isArray(alternatives)) continue;
    const real = alternatives.map(asRecord).filter((one) => one.type !== 'null');
    if (real.length === 1) return real[0];
  }
  return undefined;
}

function definition(reference: string, root: Schema): Schema | undefined {
  const [hash, place, name, ...rest] = reference.split('/');
  if (hash !== '#' || !place || !name || rest.length > 0 || !['$defs', 'definitions'].includes(place)) {
    return undefined;
  }
  const found = Object.entries(asRecord(root[place])).find(([key]) => key === name);
  return found && asRecord(found[1]);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() ? value : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
