// How each Markdown element is rendered, and which links are allowed.

import { Image } from 'lucide-react';
import { Children, isValidElement, type ReactNode } from 'react';
import type { Components } from 'react-markdown';
import { CodeBlock } from '../code/code-block';

/** URLs that may be linked; other links are shown as text. */
export function safeUrl(url: string): string {
  return /^(https?:\/\/|mailto:)/i.test(url.trim()) ? url.trim() : '';
}

export const ELEMENTS: Components = {
  a: ({ href, children }) => <Anchor href={href}>{children}</Anchor>,
  img: ({ src, alt }) => (
    <Anchor href={typeof src === 'string' ? src : undefined}>
      <Image aria-hidden className="mr-1 inline size-4 align-text-bottom" />
      {alt || 'Image'}
    </Anchor>
  ),
  // Responses are below the page's headings, so their own headings start two levels lower.
  h1: ({ children }) => <h3 className="markdown-h1">{children}</h3>,
  h2: ({ children }) => <h4 className="markdown-h2">{children}</h4>,
  h3: ({ children }) => <h5 className="markdown-h3">{children}</h5>,
  h4: ({ children }) => <h6>{children}</h6>,
  h5: ({ children }) => <h6>{children}</h6>,
  pre: ({ children }) => <Fenced>{children}</Fenced>,
  table: ({ children }) => (
    // Scrollable content must be focusable by keyboard.
    <div tabIndex={0} className="markdown-table">
      <table>{children}</table>
    </div>
  ),
};

/** Opens in a new tab, without a referrer or access to this page. */
function Anchor({ href, children }: { href: string | undefined; children: ReactNode }) {
  if (!href) return <span>{children}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

function Fenced({ children }: { children: ReactNode }) {
  const code = Children.toArray(children).find((child) => isValidElement(child));
  if (!isValidElement<{ className?: string; children?: ReactNode }>(code)) return <pre>{children}</pre>;
  const language = /language-(\S+)/.exec(code.props.className ?? '')?.[1] ?? null;
  const text = Children.toArray(code.props.children).join('').replace(/\n$/, '');
  return <CodeBlock code={text} language={language} />;
}
