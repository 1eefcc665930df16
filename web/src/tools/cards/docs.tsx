// Cards of documentation pages.

import { Markdown } from '@/ui/markdown/markdown';
import { ScrollBox } from '@/ui/page/scroll-box';
import type { CardKinds, CardProps } from '../types';
import { Row, Rows } from './parts';

function DocResultsCard({ response: { results, query } }: CardProps<'doc_search_results'>) {
  if (results.length === 0) return <p className="text-muted">No pages found for “{query}”.</p>;
  return (
    <Rows>
      {results.map((hit) => (
        <Row key={hit.path}>
          <p className="flex flex-wrap items-baseline gap-x-2">
            <span className="font-medium break-words">{hit.title}</span>
            <span className="font-mono text-xs break-all text-muted">{hit.path}</span>
          </p>
          <p className="mt-0.5 line-clamp-3 break-words text-muted">{hit.snippet}</p>
        </Row>
      ))}
    </Rows>
  );
}

function DocPageCard({ response: { title, path, content } }: CardProps<'doc_page'>) {
  return (
    <>
      <p className="font-mono text-xs break-all text-muted">{path}</p>
      <ScrollBox label={title} className="border border-line px-4 py-3">
        <Markdown text={content} />
      </ScrollBox>
    </>
  );
}

export const docs: CardKinds<'doc_search_results' | 'doc_page'> = {
  doc_search_results: {
    Card: DocResultsCard,
    note: ({ count }) => (count === 0 ? 'No results' : count === 1 ? '1 page' : `${count} pages`),
  },
  doc_page: { Card: DocPageCard, note: ({ title }) => title },
};
