import { memo, type ReactNode, useDeferredValue, useMemo } from 'react';
import './code-block.css';
import { CopyButton } from '../buttons/copy-button';
import { useHighlighter } from './code-highlighter';

/** Highlighting more than this takes longer than a frame. */
const MAX_HIGHLIGHTED_LENGTH = 40_000;

type Props = { code: string; language: string | null };

/** Code with its language and a copy button, highlighted once the highlighter has loaded. */
export const CodeBlock = memo(function CodeBlock({ code, language }: Props) {
  return (
    <figure className="code-block">
      <figcaption>
        <span className="min-w-0 truncate">{language ?? 'text'}</span>
        <CopyButton text={code} label="Copy code" className="max-sm:size-10" />
      </figcaption>
      {/* Scrollable content must be focusable by keyboard. */}
      <pre tabIndex={0}>
        <code>
          <HighlightedCode code={code} language={language} />
        </code>
      </pre>
    </figure>
  );
});

/** While code streams, new text is shown plain at once and highlighted when there is time. */
function HighlightedCode({ code, language }: Props): ReactNode {
  const highlight = useHighlighter(language !== null && code.length <= MAX_HIGHLIGHTED_LENGTH);
  const deferred = useDeferredValue(code);
  const highlighted = useMemo(
    () => (highlight && language ? highlight(deferred, language) : deferred),
    [highlight, deferred, language],
  );
  if (!code.startsWith(deferred)) return code;
  return (
    <>
      {highlighted}
      {code.slice(deferred.length)}
    </>
  );
}
