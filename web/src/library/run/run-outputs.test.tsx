import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import { RunOutputs } from './run-outputs';

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `value ${from + index}`);

function outputs(values: string[], total: number, from: 'beginning' | 'end') {
  return (
    <RunOutputs
      outputs={[{ name: 'tide', values, total }]}
      from={from}
      isTruncated={false}
      hasEnded={from === 'beginning'}
      schema={{}}
    />
  );
}

const shown = () => screen.getAllByText(/^value \d+$/).map((one) => one.textContent);

describe('outputs of a run', () => {
  it('shows the latest values while it is running, and the total count', async () => {
    render(outputs(numbers(151, 200), 200, 'end'));
    expect(screen.getByText('Last 50 of 200 values')).toBeTruthy();
    expect(shown()).toEqual(numbers(196, 200));
    await userEvent.click(screen.getByRole('button', { name: 'Show 45 earlier' }));
    expect(shown()).toEqual(numbers(151, 200));
  });

  it('keeps the element of a value when older values are dropped', () => {
    const { rerender } = render(outputs(numbers(151, 200), 200, 'end'));
    const before = screen.getByText('value 200');
    rerender(outputs(numbers(153, 202), 202, 'end'));
    expect(screen.getByText('value 200')).toBe(before);
    expect(shown()).toEqual(numbers(198, 202));
  });

  it('shows the first values once it has ended', () => {
    const { rerender } = render(outputs(numbers(1, 3), 3, 'end'));
    const before = screen.getByText('value 1');
    rerender(outputs(numbers(1, 3), 3, 'beginning'));
    expect(screen.getByText('value 1')).toBe(before);
    rerender(outputs(numbers(1, 9), 9, 'beginning'));
    expect(shown()).toEqual(numbers(1, 5));
    expect(screen.getByRole('button', { name: 'Show 4 more' })).toBeTruthy();
  });
});
