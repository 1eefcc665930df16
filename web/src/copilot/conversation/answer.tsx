import { memo } from 'react';
import { parseFailure } from '@/session/turn-failure';
import type { CopilotMessage } from '@/session/types';
import { ToolCard } from '@/tools/tool-card';
import type { ToolPart } from '@/tools/types';
import { Markdown } from '@/ui/markdown';
import { type Block, blocksOf } from './blocks';
import { Stopped, TurnFailed } from './ending';
import { Footer } from './footer';
import { BackgroundNote, CompactionNote } from './notes';
import { Question } from './question';
import { Reasoning } from './reasoning';

type Props = {
  message: CopilotMessage;
  /** Its turn is at work. */
  live: boolean;
  /** Nobody has written after it. */
  last: boolean;
  onRetry?: () => void;
};

/** What came of one turn: words, thoughts and calls in the order they came, and how it ended. */
export function Answer({ message, live, last, onRetry }: Props) {
  const { error, stopped, retryable } = message.metadata ?? {};
  const blocks = blocksOf(message);
  return (
    <div className="group/answer flex min-w-0 flex-col gap-3">
      <span className="sr-only">Pilothouse: </span>
      {blocks.map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an answer grows at its end only, so a block keeps its place.
        <BlockView key={index} block={block} live={live} last={last} />
      ))}
      {stopped && <Stopped onRetry={onRetry} />}
      {error && <TurnFailed {...parseFailure(error)} canRetry={retryable !== false} onRetry={onRetry} />}
      {!live && blocks.length > 0 && (
        <Footer message={message} last={last} onRetry={error || stopped ? undefined : onRetry} />
      )}
    </div>
  );
}

function BlockView({ block, live, last }: { block: Block; live: boolean; last: boolean }) {
  switch (block.kind) {
    case 'text':
      return <Words text={block.text} streaming={live && block.streaming} />;
    case 'reasoning':
      return <Reasoning text={block.text} streaming={live && block.streaming} />;
    case 'tools':
      return (
        <div className="flex flex-col gap-1.5">
          {block.calls.map((call) => (
            <Call key={call.toolCallId} part={call} live={live} current={last} />
          ))}
        </div>
      );
    case 'follow-ups':
      return block.messages.map(({ id, text }) => <Question key={id} text={text} label="You, meanwhile" />);
    case 'compaction':
      return <CompactionNote data={block.data} />;
    case 'background':
      return <BackgroundNote calls={block.calls} />;
  }
}

const Words = memo(Markdown);

type CallProps = { part: ToolPart; live: boolean; current: boolean };

/** The SDK copies every part with each chunk, so a card is drawn again only when something in its part is another. */
const Call = memo(
  function Call(props: CallProps) {
    return <ToolCard {...props} />;
  },
  (before, after) =>
    before.live === after.live && before.current === after.current && sameFields(before.part, after.part),
);

function sameFields(one: object, other: object): boolean {
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  return keys.every((key) => Object.is(Reflect.get(one, key), Reflect.get(other, key)));
}
