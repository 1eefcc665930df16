import { describe, expect, it } from 'vitest';
import { inputErrors } from '@/agents/input-errors';
import { ApiError } from '@/api/problem';
import { graphErrors } from './start-run';

const failed = (body: unknown) => new ApiError(400, 'X', 'No.', null, body);

describe('a run that could not be started', () => {
  it('has an error message for each invalid input', () => {
    const body = {
      inputs: { missing: ['city'], unknown: ['color'], wrong: [['size', 'a number was expected']] },
    };
    expect(inputErrors(failed(body))).toEqual({
      city: 'Required.',
      color: 'The agent has no input with this name.',
      size: 'A number was expected.',
    });
  });

  it('has no input errors if the error names no inputs', () => {
    expect(inputErrors(failed({ detail: 'No credits.' }))).toBeNull();
    expect(inputErrors(new Error('offline'))).toBeNull();
    expect(inputErrors(failed(undefined))).toBeNull();
  });

  it('lists every graph error once', () => {
    const errors = [{ message: 'No block A.' }, { message: 'No block B.' }, { message: 'No block A.' }, {}];
    expect(graphErrors(failed({ errors }))).toEqual(['No block A.', 'No block B.']);
    expect(graphErrors(failed({ errors: 'odd' }))).toEqual([]);
  });
});
