import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import { RunOutputs } from './run-outputs';

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, place) => `value ${from + place}`);

function outputs(values: string[], total: number, from: 'beginning' | 'end') {
  return (
    <RunOutputs
      outputs={[{ name: 'tide', values, total }]}
      from={from}
      isCut={false}
      hasEnded={from === 'beginning'}
      schema={{}}
    />
  );
}

const shown = () => screen.getAllByText(/^value \d+$/).map((one) => one.textContent);

describe('what a run gave', () => {
  it('shows the newest while it is under way, and says how many are not at hand', async () => {
    render(outputs(numbers(151, 200), 200, 'end'));
    expect(screen.getByText('The last 50 of 200 values')).toBeTruthy();
    expect(shown()).toEqual(numbers(196, 200));
    await userEvent.click(screen.getByRole('button', { name: 'Show 45 earlier' }));
    expect(shown()).toEqual(numbers(151, 200));
  });

  it('keeps a value where it stands on the page when older ones are let go', () => {
    const { rerender } = render(outputs(numbers(151, 200), 200, 'end'));
    const before = screen.getByText('value 200');
    rerender(outputs(numbers(153, 202), 202, 'end'));
    expect(screen.getByText('value 200')).toBe(before);
    expect(shown()).toEqual(numbers(198, 202));
  });

  it('shows the first when it is over, the same ones where they are few', () => {
    const { rerender } = render(outputs(numbers(1, 3), 3, 'end'));
    const before = screen.getByText('value 1');
    rerender(outputs(numbers(1, 3), 3, 'beginning'));
    expect(screen.getByText('value 1')).toBe(before);
    rerender(outputs(numbers(1, 9), 9, 'beginning'));
    expect(shown()).toEqual(numbers(1, 5));
    expect(screen.getByRole('button', { name: 'Show 4 more' })).toBeTruthy();
  });
});
