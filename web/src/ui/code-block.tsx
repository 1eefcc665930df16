import { memo, type ReactNode, useDeferredValue, useMemo } from 'react';
import './code-block.css';
import { useHighlighter } from './code-highlighter';
import { CopyButton } from './copy-button';

/** Colouring more than this takes longer than a frame, and nobody reads it all. */
const LONGEST_COLOURED = 40_000;

type Props = { code: string; language: string | null };

/** Code with its language, a button that copies it, and colours once the highlighter has come. */
export const CodeBlock = memo(function CodeBlock({ code, language }: Props) {
  return (
    <figure className="code-block">
      <figcaption>
        <span className="min-w-0 truncate">{language ?? 'text'}</span>
        <CopyButton text={code} label="Copy code" className="max-sm:size-10" />
      </figcaption>
      {/* What scrolls must be reachable by keyboard. */}
      <pre tabIndex={0}>
        <code>
          <Coloured code={code} language={language} />
        </code>
      </pre>
    </figure>
  );
});

/** While code streams in, what is new is shown plain at once and coloured when there is time. */
function Coloured({ code, language }: Props): ReactNode {
  const highlight = useHighlighter(language !== null && code.length <= LONGEST_COLOURED);
  const settled = useDeferredValue(code);
  const coloured = useMemo(
    () => (highlight && language ? highlight(settled, language) : settled),
    [highlight, settled, language],
  );
  if (!code.startsWith(settled)) return code;
  return (
    <>
      {coloured}
      {code.slice(settled.length)}
    </>
  );
}
