import { describe, expect, it } from 'vitest';
import { type FieldKind, type FieldSpec, fieldsOf } from './schema';

const field = (property: unknown, rest: object = {}): FieldSpec => {
  const [first] = fieldsOf({ type: 'object', properties: { it: property }, ...rest });
  if (!first) throw new Error('no field');
  return first;
};
const kind = (property: unknown, rest?: object): FieldKind => field(property, rest).kind;

describe('fields of a schema', () => {
  it('the formats of text are recognized', () => {
    expect(kind({ type: 'string' })).toMatchObject({ is: 'text', format: 'plain', long: false });
    expect(kind({ type: 'string', format: 'long-text' })).toMatchObject({ long: true });
    expect(kind({ type: 'string', maxLength: 5000 })).toMatchObject({ long: true, maxLength: 5000 });
    expect(kind({ type: 'string', format: 'date' })).toMatchObject({ format: 'date' });
    expect(kind({ type: 'string', format: 'uri' })).toMatchObject({ format: 'url' });
    expect(kind({ type: 'string', format: 'file' })).toMatchObject({ format: 'file' });
    expect(kind({ type: 'string', format: 'password' })).toMatchObject({ format: 'secret' });
    expect(kind({ secret: true })).toMatchObject({ is: 'text', format: 'secret' });
  });

  it('numbers with limits, and choices are recognized', () => {
    expect(kind({ type: 'integer', minimum: 1, maximum: 9 })).toEqual({
      is: 'number',
      integer: true,
      minimum: 1,
      maximum: 9,
    });
    expect(kind({ type: ['number', 'null'] })).toMatchObject({ is: 'number', integer: false });
    expect(kind({ enum: ['a', 2, null] })).toEqual({
      is: 'choice',
      choices: [
        { value: 'a', label: 'a' },
        { value: 2, label: '2' },
      ],
    });
    expect(kind({ oneOf: [{ const: 'x' }, { const: 'y' }] })).toMatchObject({ is: 'choice' });
  });

  it('lists, tables and multiple choices are recognized', () => {
    expect(kind({ type: 'array', items: { type: 'string' } })).toEqual({ is: 'list', of: 'text' });
    expect(kind({ type: 'array', items: { type: 'integer' } })).toEqual({ is: 'list', of: 'integer' });
    expect(kind({ type: 'array', items: { enum: ['a', 'b'] } })).toMatchObject({ is: 'choices' });
    const rows = { type: 'object', properties: { id: { type: 'string' }, weight: { type: 'string' } } };
    expect(kind({ type: 'array', format: 'table', items: rows })).toEqual({
      is: 'table',
      columns: ['id', 'weight'],
    });
    expect(kind({ type: 'array', items: { type: 'object' } })).toEqual({ is: 'json', type: 'array' });
    expect(kind({ type: 'array' })).toEqual({ is: 'json', type: 'array' });
  });

  it('an unsupported type becomes JSON, and a missing type becomes anything', () => {
    expect(kind({ type: 'object', properties: { a: {} } })).toEqual({ is: 'json', type: 'object' });
    expect(kind({ anyOf: [{ type: 'string' }, { type: 'integer' }] })).toEqual({ is: 'json' });
    expect(kind({ type: ['string', 'integer'] })).toEqual({ is: 'json' });
    expect(kind({ type: 'quaternion' })).toEqual({ is: 'json' });
    expect(kind({})).toEqual({ is: 'anything' });
    expect(kind(true)).toEqual({ is: 'anything' });
  });

  it('references are followed, also next to null, and cycles end', () => {
    const $defs = { Size: { type: 'integer', title: 'Defined' }, Loop: { $ref: '#/$defs/Loop' } };
    expect(field({ $ref: '#/$defs/Size', title: 'Used' }, { $defs })).toMatchObject({
      label: 'Used',
      kind: { is: 'number' },
    });
    expect(kind({ anyOf: [{ $ref: '#/$defs/Size' }, { type: 'null' }] }, { $defs })).toMatchObject({
      is: 'number',
    });
    expect(kind({ $ref: '#/$defs/Loop' }, { $defs })).toEqual({ is: 'json' });
    expect(kind({ $ref: '#/$defs/Nowhere' }, { $defs })).toEqual({ is: 'json' });
    expect(kind({ $ref: 'https://elsewhere.example/schema' })).toEqual({ is: 'json' });
  });

  it('identifiers become readable labels, and titles are kept', () => {
    const labels = fieldsOf({ properties: { tax_percent: {}, apiKey: {}, x: { title: 'A title' } } });
    expect(labels.map((one) => one.label)).toEqual(['Tax percent', 'API key', 'A title']);
  });

  it('a required field is never advanced', () => {
    expect(field({ advanced: true }).advanced).toBe(true);
    expect(field({ advanced: true }, { required: ['it'] }).advanced).toBe(false);
  });

  it.each([
    null,
    undefined,
    'schema',
    7,
    [],
    true,
    { properties: [] },
    { properties: null },
    { required: 3 },
  ])('%j has no fields', (schema) => expect(fieldsOf(schema)).toEqual([]));

  it('invalid properties and names of Object built-ins are handled', () => {
    const hostile = JSON.parse(
      '{"properties": {"__proto__": {"type": "string"}, "constructor": null, "a": 3, "b": {"title": 4, "enum": {}, "type": {}}}, "required": ["__proto__"]}',
    );
    const fields = fieldsOf(hostile);
    expect(fields.map((one) => one.name)).toEqual(['__proto__', 'constructor', 'a', 'b']);
    expect(fields[0]).toMatchObject({ required: true, kind: { is: 'text' } });
    expect(fields[3]).toMatchObject({ label: 'B' });
  });

  it('the number of fields and choices is limited', () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`f${index}`, {}]));
    expect(fieldsOf({ properties: many }).length).toBe(300);
    expect(
      kind({ type: 'string', enum: Array.from({ length: 501 }, (_, index) => `${index}`) }),
    ).toMatchObject({
      is: 'text',
    });
  });
});
