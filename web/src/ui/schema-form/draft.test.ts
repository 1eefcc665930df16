import { describe, expect, it } from 'vitest';
import { type Draft, draftOf, fitsPicker, readDraft } from './draft';
import { type FieldSpec, fieldsOf } from './schema';

function field(property: unknown, required = false): FieldSpec {
  const [first] = fieldsOf({ properties: { it: property }, required: required ? ['it'] : [] });
  if (!first) throw new Error('no field');
  return first;
}
const reading = (property: unknown, draft: Draft, required = false) =>
  readDraft(field(property, required), draft);

describe('reading a draft', () => {
  it('an empty draft is omitted, or an error when required', () => {
    expect(reading({ type: 'string' }, '  ')).toEqual({ absent: true });
    expect(reading({ type: 'string' }, '', true)).toEqual({ error: 'Required.' });
    expect(reading({ enum: ['a'] }, '', true)).toEqual({ error: 'Choose an option.' });
    expect(reading({ type: 'array', items: { type: 'string' } }, ['', ' '], true)).toEqual({
      error: 'Required.',
    });
  });

  it('an empty draft can clear a default', () => {
    expect(reading({ type: 'string', default: 'x' }, '')).toEqual({ value: '' });
    expect(reading({ type: 'array', items: { type: 'string' }, default: ['x'] }, [])).toEqual({ value: [] });
    expect(reading({ type: 'integer', default: 3 }, '')).toEqual({ absent: true });
  });

  it('a number must be valid and within its limits', () => {
    expect(reading({ type: 'number' }, ' -1.5e2 ')).toEqual({ value: -150 });
    expect(reading({ type: 'number' }, '1,000')).toHaveProperty('error');
    expect(reading({ type: 'number' }, '0x10')).toHaveProperty('error');
    expect(reading({ type: 'number' }, '1e999')).toHaveProperty('error');
    expect(reading({ type: 'integer' }, '1.5')).toEqual({ error: 'Enter a whole number.' });
    expect(reading({ type: 'integer' }, '9007199254740993')).toEqual({ error: 'Enter a smaller number.' });
    expect(reading({ type: 'integer', minimum: 1 }, '0')).toEqual({ error: 'Enter 1 or more.' });
    expect(reading({ type: 'integer', maximum: 9 }, '10')).toEqual({ error: 'Enter 9 or less.' });
  });

  it('JSON must be valid and of the right type', () => {
    expect(reading({ type: 'object' }, '{"a": [1]}')).toEqual({ value: { a: [1] } });
    expect(reading({ type: 'object' }, '[1]')).toEqual({ error: 'Enter an object: { … }.' });
    expect(reading({ type: 'array' }, '{}')).toEqual({ error: 'Enter a list: [ … ].' });
    expect(reading({ type: 'object' }, '{"a":')).toHaveProperty('error');
  });

  it('a field of any type reads text, unless it is a list or an object', () => {
    expect(reading({}, '05')).toEqual({ value: '05' });
    expect(reading({}, '[1, 2]')).toEqual({ value: [1, 2] });
    expect(reading({}, '[sic]')).toEqual({ value: '[sic]' });
    expect(reading({ default: 5 }, '5')).toEqual({ value: 5 });
  });

  it('choices keep their values', () => {
    expect(reading({ enum: ['1', 1] }, '1')).toEqual({ value: 1 });
    expect(reading({ type: 'array', items: { enum: ['a', 'b'] } }, ['1'])).toEqual({ value: ['b'] });
  });

  it('the error names the list entry that is not a number', () => {
    expect(reading({ type: 'array', items: { type: 'integer' } }, ['1', '', 'two'])).toEqual({
      error: "“two” isn't a whole number.",
    });
  });

  it('empty rows are dropped, and properties without a column are kept', () => {
    const table = { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } };
    expect(reading(table, [{ a: '' }, { a: 'x', hidden: 1 }])).toEqual({ value: [{ a: 'x', hidden: 1 }] });
  });

  it('a switch that stays off and was never set is omitted', () => {
    expect(reading({ type: 'boolean' }, false)).toEqual({ absent: true });
    expect(reading({ type: 'boolean' }, false, true)).toEqual({ value: false });
    expect(reading({ type: 'boolean', default: true }, false)).toEqual({ value: false });
  });

  it('the length limits of a text are checked', () => {
    expect(reading({ type: 'string', minLength: 3 }, 'ab')).toEqual({
      error: 'Enter at least 3 characters.',
    });
    expect(reading({ type: 'string', maxLength: 3 }, 'abcd')).toHaveProperty('error');
  });
});

describe('an existing value', () => {
  it.each([
    [{ type: 'string' }, 'text'],
    [{ type: 'number' }, 1.5],
    [{ type: 'boolean' }, false],
    [{ enum: ['a', 'b'] }, 'b'],
    [{ type: 'array', items: { type: 'integer' } }, [1, 2]],
    [{ type: 'object' }, { deep: { er: [null] } }],
    [{}, { any: 'thing' }],
    [{}, 'words'],
    [{ type: 'string', format: 'date' }, '2026-11-16'],
    [{ type: 'string', format: 'date-time' }, '2026-11-16T12:30:00.000Z'],
    [{ type: 'string', format: 'date-time' }, '2026-11-16T12:30:45+01:00'],
  ])('of %j survives a round trip: %j', (property, value) => {
    const one = field(property);
    expect(readDraft(one, draftOf(one, value), value)).toEqual({ value });
  });

  it('that no picker can show is shown as text', () => {
    expect(fitsPicker('date', 'tomorrow')).toBe(false);
    expect(fitsPicker('date', '2026-11-16')).toBe(true);
    expect(fitsPicker('time', '09:30')).toBe(true);
    expect(reading({ type: 'string', format: 'date' }, 'tomorrow')).toEqual({ value: 'tomorrow' });
  });

  it('of the wrong type is handled', () => {
    expect(draftOf(field({ type: 'array', items: { type: 'string' } }), 'no list')).toEqual([]);
    expect(draftOf(field({ enum: ['a'] }), { not: 'a choice' })).toBe('');
    expect(draftOf(field({ type: 'string' }), { an: 'object' })).toContain('"an"');
  });
});
