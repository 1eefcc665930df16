import { render, screen, within } from '@testing-library/react';
import { describe, expect, test, vi } from 'vitest';
import { Markdown } from './markdown';

describe('markdown', () => {
  test('shows headings, lists, tables and task lists', () => {
    render(<Markdown text={'# Title\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- [x] done'} />);
    expect(screen.getByRole('heading', { name: 'Title', level: 3 })).toBeTruthy();
    expect(screen.getAllByRole('list')).toHaveLength(2);
    expect(within(screen.getByRole('table')).getByRole('cell', { name: '2' })).toBeTruthy();
    expect(screen.getByRole('checkbox')).toHaveProperty('checked', true);
  });

  test('a link opens in a new tab without a referrer', () => {
    render(<Markdown text="[guide](https://example.org/a) and <mailto:a@example.org>" />);
    const link = screen.getByRole('link', { name: 'guide' });
    expect(link.getAttribute('href')).toBe('https://example.org/a');
    expect(link.getAttribute('target')).toBe('_blank');
    expect(link.getAttribute('rel')).toBe('noopener noreferrer');
    expect(screen.getByRole('link', { name: 'mailto:a@example.org' })).toBeTruthy();
  });

  test('an image becomes a link to it', () => {
    const { container } = render(<Markdown text="![A chart](https://example.org/chart.png)" />);
    expect(screen.getByRole('link', { name: 'A chart' }).getAttribute('href')).toBe(
      'https://example.org/chart.png',
    );
    expect(container.querySelector('img')).toBeNull();
  });

  test('a reference link finds its definition in another block', () => {
    render(<Markdown text={'See [the guide][g].\n\nMore.\n\n[g]: https://example.org/g'} />);
    expect(screen.getByRole('link', { name: 'the guide' }).getAttribute('href')).toBe(
      'https://example.org/g',
    );
  });

  test('a footnote is linked to its reference', () => {
    render(<Markdown text={'Said so[^1].\n\nMore.\n\n[^1]: By whom.'} />);
    expect(screen.getByText(/By whom/)).toBeTruthy();
  });

  test('a <br> in a table cell is a line break', () => {
    const { container } = render(<Markdown text={'| a |\n|---|\n| one<br>two |'} />);
    expect(container.querySelector('td br')).not.toBeNull();
  });
});

describe('hostile text', () => {
  test.each([
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<iframe src="https://example.org"></iframe>',
    '<style>body{display:none}</style>',
    'a <b onclick="alert(1)">word</b>',
  ])('%s is shown as text', (text) => {
    const { container } = render(<Markdown text={text} />);
    expect(container.querySelector('script, img, iframe, style, b')).toBeNull();
    expect(container.textContent).toContain(text);
  });

  test.each([
    '[go](javascript:alert(1))',
    '[go](JAVASCRIPT:alert(1))',
    '[go](java\nscript:alert(1))',
    '[go](data:text/html,<script>alert(1)</script>)',
    '[go](vbscript:x)',
    '[go](file:///etc/passwd)',
    '[go](//example.org)',
    '![go](data:image/svg+xml;base64,AAAA)',
    '[go][x]\n\n[x]: javascript:alert(1)',
  ])('%s is not a link', (text) => {
    render(<Markdown text={text} />);
    expect(screen.queryByRole('link')).toBeNull();
    expect(document.body.textContent).toContain('go');
  });

  test.each([
    ['quotes in quotes', '>'.repeat(5_000)],
    ['items in items', '- '.repeat(5_000)],
    ['brackets', '['.repeat(10_000)],
    ['stars', '*a '.repeat(5_000)],
    ['one word', 'x'.repeat(300_000)],
    ['ticks', '`a``'.repeat(5_000)],
  ])(
    'endless %s neither fail nor stall',
    (_, text) => {
      vi.spyOn(console, 'error').mockImplementation(() => {});
      const { container } = render(<Markdown text={text} streaming />);
      expect(container.textContent).not.toBe('');
    },
    20_000,
  );
});

describe('a streaming text', () => {
  test('renders only its last block again', () => {
    const first = 'The first paragraph.\n\nThe second **one';
    const view = (text: string) => <Markdown text={text} streaming />;
    const { container, rerender } = render(view(first));
    const [before] = container.querySelectorAll('p');
    rerender(view(`${first} goes on**\n\n\`\`\`js\nlet a`));
    const [after] = container.querySelectorAll('p');
    expect(after).toBe(before);
    expect(container.querySelector('pre')?.textContent).toContain('let a');
  });

  test('code shows its language when the name is complete', () => {
    const { rerender } = render(<Markdown text={'```pyth'} streaming />);
    expect(screen.queryByText('pyth')).toBeNull();
    rerender(<Markdown text={'```python\nprint'} streaming />);
    expect(screen.getByText('python')).toBeTruthy();
  });

  test('gives the same result as the whole text, however it is chunked', () => {
    const { container, rerender } = render(<Markdown text="" streaming />);
    for (let end = 1; end <= SAMPLE.length; end++)
      rerender(<Markdown text={SAMPLE.slice(0, end)} streaming />);
    rerender(<Markdown text={SAMPLE} />);
    const grown = container.innerHTML;
    const atOnce = render(<Markdown text={SAMPLE} />);
    expect(grown).toBe(atOnce.container.innerHTML);
  });
});

const SAMPLE = `# A title

Words with **bold**, a [link][l] and
a second line.
- one
- two

  still two

1. first

| a | b |
|---|---|
| 1 | 2 |

\`\`\`sh
make run

\`\`\`
> quote

[l]: https://example.org
The end.`;
