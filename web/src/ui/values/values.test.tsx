import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { asTable } from './value-table';
import { Outputs, pageAddress, Value } from './values';

test('only http and https addresses become links', () => {
  expect(pageAddress('https://example.org/a b')).toBeNull();
  expect(pageAddress('javascript:alert(1)')).toBeNull();
  expect(pageAddress('data:text/html,x')).toBeNull();
  expect(pageAddress('//example.org')).toBeNull();
  expect(pageAddress('see https://example.org')).toBeNull();
  expect(pageAddress(' https://example.org/x ')).toBe('https://example.org/x');
});

test('a link opens a new tab without access to this page', () => {
  render(<Value value="https://example.org/x" />);
  const link = screen.getByRole('link');
  expect(link.getAttribute('rel')).toContain('noopener');
  expect(link.getAttribute('target')).toBe('_blank');
});

test('long text is truncated until the user expands it', async () => {
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

test('only the first 20 of 100,000 values are shown, the rest are counted', () => {
  render(<Outputs outputs={{ tide: Array.from({ length: 100_000 }, (_, index) => `tide ${index}`) }} />);
  expect(screen.getAllByText(/^tide \d+$/)).toHaveLength(20);
  expect(screen.getByText('and 99,980 more')).toBeDefined();
});

test('empty outputs are shown as no output', () => {
  render(<Outputs outputs={{}} />);
  expect(screen.getByText('No output.')).toBeDefined();
});

test('only raster images are shown as images', () => {
  const { container } = render(
    <>
      <Value value="data:image/png;base64,AAAA" />
      <Value value="data:image/svg+xml;base64,AAAA" />
    </>,
  );
  expect(container.querySelectorAll('img')).toHaveLength(1);
});
