import { render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { CodeBlock } from './code-block';

test('code shows its language and is copied unchanged', async () => {
  const user = userEvent.setup();
  render(<CodeBlock code={'fn main() {}\n\n// end'} language="rust" />);
  expect(screen.getByText('rust')).toBeTruthy();
  await user.click(screen.getByRole('button', { name: 'Copy code' }));
  expect(await navigator.clipboard.readText()).toBe('fn main() {}\n\n// end');
  expect((await screen.findByRole('status')).textContent).toBe('Copied');
});

test('highlighting is added later and changes no character', async () => {
  const code = 'const a: number = 1; // "x" <b>';
  const { container } = render(<CodeBlock code={code} language="ts" />);
  const shown = container.querySelector('code');
  expect(shown?.textContent).toBe(code);
  await waitFor(() => expect(shown?.querySelector('.hljs-keyword')?.textContent).toBe('const'));
  expect(shown?.textContent).toBe(code);
});

test('an unknown language is shown without highlighting', async () => {
  const { container } = render(<CodeBlock code="blorp <x>" language="blorp" />);
  expect(container.querySelector('code')?.textContent).toBe('blorp <x>');
  expect(container.querySelector('code span')).toBeNull();
});

test('streaming code is shown up to its last character at once', () => {
  const { container, rerender } = render(<CodeBlock code="let a" language="js" />);
  rerender(<CodeBlock code="let a = 1" language="js" />);
  expect(container.querySelector('code')?.textContent).toBe('let a = 1');
});
