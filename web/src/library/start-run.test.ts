import { describe, expect, it } from 'vitest';
import { ApiError } from '@/api/problem';
import { graphErrors, inputErrors } from './start-run';

const refused = (body: unknown) => new ApiError(400, 'X', 'No.', null, body);

describe('a run that was refused', () => {
  it('says at every input what is wrong with it', () => {
    const body = {
      inputs: { missing: ['city'], unknown: ['colour'], wrong: [['size', 'a number was expected']] },
    };
    expect(inputErrors(refused(body))).toEqual({
      city: 'Fill this in.',
      colour: 'The agent has no such input.',
      size: 'A number was expected.',
    });
  });

  it('is about something else when no inputs are named', () => {
    expect(inputErrors(refused({ detail: 'No credits.' }))).toBeNull();
    expect(inputErrors(new Error('offline'))).toBeNull();
    expect(inputErrors(refused(undefined))).toBeNull();
  });

  it('says every reason once', () => {
    const errors = [{ message: 'No block A.' }, { message: 'No block B.' }, { message: 'No block A.' }, {}];
    expect(graphErrors(refused({ errors }))).toEqual(['No block A.', 'No block B.']);
    expect(graphErrors(refused({ errors: 'odd' }))).toEqual([]);
  });
});
