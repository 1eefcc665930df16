import { memo, useRef } from 'react';
import ReactMarkdown from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { CodeBlock } from './code-block';
import './markdown.css';
import { type Block, cut, NOTHING } from './markdown-blocks';
import { lineBreaks } from './markdown-breaks';
import { completed, withoutHalfFence } from './markdown-completed';
import { ELEMENTS, safeAddress } from './markdown-elements';
import { Plain, PlainOnFailure } from './markdown-plain';

const PLUGINS = [remarkGfm, lineBreaks];

/**
 * Text as the model wrote it: markdown, never HTML. While it streams only its last block is made again, and what
 * is half written looks as it will.
 */
export function Markdown({ text, streaming = false }: { text: string; streaming?: boolean }) {
  const known = useRef(NOTHING);
  known.current = cut(text.replaceAll('\r\n', '\n'), known.current);
  const { blocks } = known.current;
  return (
    <div className="markdown">
      {blocks.map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: text grows at its end only, so a block keeps its place.
        <Shown key={index} block={block} unfinished={streaming && index === blocks.length - 1} />
      ))}
    </div>
  );
}

function Shown({ block, unfinished }: { block: Block; unfinished: boolean }) {
  switch (block.kind) {
    case 'plain':
      return <Plain text={block.text} />;
    case 'markdown':
      return <Parsed text={unfinished ? completed(block.text) : block.text} />;
    case 'code':
      return (
        <CodeBlock
          code={unfinished ? withoutHalfFence(block.text) : block.text}
          language={unfinished && block.open ? null : block.language}
        />
      );
  }
}

const Parsed = memo(function Parsed({ text }: { text: string }) {
  return (
    <PlainOnFailure text={text}>
      <ReactMarkdown remarkPlugins={PLUGINS} components={ELEMENTS} urlTransform={safeAddress}>
        {text}
      </ReactMarkdown>
    </PlainOnFailure>
  );
});
