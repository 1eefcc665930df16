import { describe, expect, it } from 'vitest';
import { type Draft, draftOf, fitsPicker, read } from './draft';
import { type FieldSpec, fieldsOf } from './schema';

function field(property: unknown, required = false): FieldSpec {
  const [first] = fieldsOf({ properties: { it: property }, required: required ? ['it'] : [] });
  if (!first) throw new Error('no field');
  return first;
}
const reading = (property: unknown, draft: Draft, required = false) => read(field(property, required), draft);

describe('what is typed', () => {
  it('is left out when it is empty, and missed when it is needed', () => {
    expect(reading({ type: 'string' }, '  ')).toEqual({ absent: true });
    expect(reading({ type: 'string' }, '', true)).toEqual({ error: 'Fill this in.' });
    expect(reading({ enum: ['a'] }, '', true)).toEqual({ error: 'Choose one.' });
    expect(reading({ type: 'array', items: { type: 'string' } }, ['', ' '], true)).toEqual({
      error: 'Fill this in.',
    });
  });

  it('can take a default away', () => {
    expect(reading({ type: 'string', default: 'x' }, '')).toEqual({ value: '' });
    expect(reading({ type: 'array', items: { type: 'string' }, default: ['x'] }, [])).toEqual({ value: [] });
    expect(reading({ type: 'integer', default: 3 }, '')).toEqual({ absent: true });
  });

  it('is a number only if it is one, within its limits', () => {
    expect(reading({ type: 'number' }, ' -1.5e2 ')).toEqual({ value: -150 });
    expect(reading({ type: 'number' }, '1,000')).toHaveProperty('error');
    expect(reading({ type: 'number' }, '0x10')).toHaveProperty('error');
    expect(reading({ type: 'number' }, '1e999')).toHaveProperty('error');
    expect(reading({ type: 'integer' }, '1.5')).toEqual({ error: 'Give a whole number.' });
    expect(reading({ type: 'integer' }, '9007199254740993')).toEqual({ error: 'This number is too large.' });
    expect(reading({ type: 'integer', minimum: 1 }, '0')).toEqual({ error: 'At least 1.' });
    expect(reading({ type: 'integer', maximum: 9 }, '10')).toEqual({ error: 'At most 9.' });
  });

  it('is JSON of the right shape, or says why not', () => {
    expect(reading({ type: 'object' }, '{"a": [1]}')).toEqual({ value: { a: [1] } });
    expect(reading({ type: 'object' }, '[1]')).toEqual({ error: 'Give an object: { … }.' });
    expect(reading({ type: 'array' }, '{}')).toEqual({ error: 'Give a list: [ … ].' });
    expect(reading({ type: 'object' }, '{"a":')).toHaveProperty('error');
  });

  it('is text where anything may stand, unless it is a list or an object', () => {
    expect(reading({}, '05')).toEqual({ value: '05' });
    expect(reading({}, '[1, 2]')).toEqual({ value: [1, 2] });
    expect(reading({}, '[sic]')).toEqual({ value: '[sic]' });
    expect(reading({ default: 5 }, '5')).toEqual({ value: 5 });
  });

  it('keeps the values of choices as they are', () => {
    expect(reading({ enum: ['1', 1] }, '1')).toEqual({ value: 1 });
    expect(reading({ type: 'array', items: { enum: ['a', 'b'] } }, ['1'])).toEqual({ value: ['b'] });
  });

  it('names the entry that is no number', () => {
    expect(reading({ type: 'array', items: { type: 'integer' } }, ['1', '', 'two'])).toEqual({
      error: '“two” is no whole number.',
    });
  });

  it('leaves empty rows out and keeps what the columns do not show', () => {
    const table = { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } };
    expect(reading(table, [{ a: '' }, { a: 'x', hidden: 1 }])).toEqual({ value: [{ a: 'x', hidden: 1 }] });
  });

  it('says nothing when a switch stays off that nobody has set', () => {
    expect(reading({ type: 'boolean' }, false)).toEqual({ absent: true });
    expect(reading({ type: 'boolean' }, false, true)).toEqual({ value: false });
    expect(reading({ type: 'boolean', default: true }, false)).toEqual({ value: false });
  });

  it('says how long a text may be', () => {
    expect(reading({ type: 'string', minLength: 3 }, 'ab')).toEqual({ error: 'At least 3 characters.' });
    expect(reading({ type: 'string', maxLength: 3 }, 'abcd')).toHaveProperty('error');
  });
});

describe('a value that is there', () => {
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
  ])('of %j comes back as it was: %j', (property, value) => {
    const one = field(property);
    expect(read(one, draftOf(one, value), value)).toEqual({ value });
  });

  it('that no picker can show is shown as text', () => {
    expect(fitsPicker('date', 'tomorrow')).toBe(false);
    expect(fitsPicker('date', '2026-11-16')).toBe(true);
    expect(fitsPicker('time', '09:30')).toBe(true);
    expect(reading({ type: 'string', format: 'date' }, 'tomorrow')).toEqual({ value: 'tomorrow' });
  });

  it('of the wrong kind does no harm', () => {
    expect(draftOf(field({ type: 'array', items: { type: 'string' } }), 'no list')).toEqual([]);
    expect(draftOf(field({ enum: ['a'] }), { not: 'a choice' })).toBe('');
    expect(draftOf(field({ type: 'string' }), { an: 'object' })).toContain('"an"');
  });
});
