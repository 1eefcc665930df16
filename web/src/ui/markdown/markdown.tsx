import { memo, useRef } from 'react';
import ReactMarkdown from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { CodeBlock } from '../code/code-block';
import './markdown.css';
import { completeMarkdown, withoutPartialFence } from './complete-markdown';
import { lineBreaks } from './line-breaks';
import { EMPTY_SPLIT, type MarkdownBlock, splitMarkdown } from './markdown-blocks';
import { ELEMENTS, safeUrl } from './markdown-elements';
import { Plain, PlainOnFailure } from './plain-text';

const PLUGINS = [remarkGfm, lineBreaks];

/**
 * Renders Markdown from the model, without HTML. While it streams, only the last block is rendered again, and
 * incomplete marks are completed.
 */
export function Markdown({ text, streaming = false }: { text: string; streaming?: boolean }) {
  const split = useRef(EMPTY_SPLIT);
  split.current = splitMarkdown(text.replaceAll('\r\n', '\n'), split.current);
  const { blocks } = split.current;
  return (
    <div className="markdown">
      {blocks.map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: text grows at its end only, so a block keeps its index.
        <BlockView key={index} block={block} unfinished={streaming && index === blocks.length - 1} />
      ))}
    </div>
  );
}

function BlockView({ block, unfinished }: { block: MarkdownBlock; unfinished: boolean }) {
  switch (block.kind) {
    case 'plain':
      return <Plain text={block.text} />;
    case 'markdown':
      return <ParsedMarkdown text={unfinished ? completeMarkdown(block.text) : block.text} />;
    case 'code':
      return (
        <CodeBlock
          code={unfinished ? withoutPartialFence(block.text) : block.text}
          language={unfinished && block.open ? null : block.language}
        />
      );
  }
}

const ParsedMarkdown = memo(function ParsedMarkdown({ text }: { text: string }) {
  return (
    <PlainOnFailure text={text}>
      <ReactMarkdown remarkPlugins={PLUGINS} components={ELEMENTS} urlTransform={safeUrl}>
        {text}
      </ReactMarkdown>
    </PlainOnFailure>
  );
});
