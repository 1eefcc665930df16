import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { asTable } from './value-table';
import { Outputs, pageAddress, Value } from './values';

test('only addresses of pages become links', () => {
  expect(pageAddress('https://example.org/a b')).toBeNull();
  expect(pageAddress('javascript:alert(1)')).toBeNull();
  expect(pageAddress('data:text/html,x')).toBeNull();
  expect(pageAddress('//example.org')).toBeNull();
  expect(pageAddress('see https://example.org')).toBeNull();
  expect(pageAddress(' https://example.org/x ')).toBe('https://example.org/x');
});

test('a link opens a page that cannot reach back', () => {
  render(<Value value="https://example.org/x" />);
  const link = screen.getByRole('link');
  expect(link.getAttribute('rel')).toContain('noopener');
  expect(link.getAttribute('target')).toBe('_blank');
});

test('long text is cut until somebody wants all of it', async () => {
  render(<Value value={`${'sea '.repeat(1000)}end`} />);
  expect(screen.queryByText(/end$/)).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'Show all 4,003 characters' }));
  expect(screen.getByText(/end$/)).toBeDefined();
});

test('a list of flat objects is a table, anything else is not', () => {
  expect(asTable([{ a: 1 }, { b: null }])?.columns).toEqual(['a', 'b']);
  expect(asTable([])).toBeNull();
  expect(asTable([{}])).toBeNull();
  expect(asTable([{ a: { b: 1 } }])).toBeNull();
  expect(asTable([1, 2])).toBeNull();
  expect(asTable({ a: 1 })).toBeNull();
});

test('a hundred thousand values are counted, not shown', () => {
  render(<Outputs outputs={{ tide: Array.from({ length: 100_000 }, (_, place) => `tide ${place}`) }} />);
  expect(screen.getAllByText(/^tide \d+$/)).toHaveLength(20);
  expect(screen.getByText('and 99,980 more')).toBeDefined();
});

test('nothing is said to be nothing', () => {
  render(<Outputs outputs={{}} />);
  expect(screen.getByText('It gave nothing.')).toBeDefined();
});

test('only pictures are shown as pictures', () => {
  const { container } = render(
    <>
      <Value value="data:image/png;base64,AAAA" />
      <Value value="data:image/svg+xml;base64,AAAA" />
    </>,
  );
  expect(container.querySelectorAll('img')).toHaveLength(1);
});
