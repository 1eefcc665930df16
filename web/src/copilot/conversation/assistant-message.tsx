import { memo } from 'react';
import { parseFailure } from '@/session/turn-failure';
import type { CopilotMessage } from '@/session/types';
import { ToolCard } from '@/tools/tool-card';
import type { ToolPart } from '@/tools/types';
import { Markdown } from '@/ui/markdown/markdown';
import { BackgroundNote, CompactionNote } from './notes';
import { Reasoning } from './reasoning';
import { ResponseFooter } from './response-footer';
import { type ResponseSection, sectionsOf } from './response-sections';
import { TurnFailed, TurnStopped } from './turn-ending';
import { UserMessage } from './user-message';

type Props = {
  message: CopilotMessage;
  /** Its turn is running. */
  live: boolean;
  /** It is the newest message. */
  last: boolean;
  /** No user message follows it. */
  current: boolean;
  onRetry?: () => void;
};

/** The response of one turn: text, reasoning and tool calls in order, and how it ended. */
export function AssistantMessage({ message, live, last, current, onRetry }: Props) {
  const { error, stopped, retryable } = message.metadata ?? {};
  const sections = sectionsOf(message);
  return (
    <div className="group/response flex min-w-0 flex-col gap-3">
      <span className="sr-only">Pilothouse: </span>
      {sections.map((section, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a response only grows at its end, so a section keeps its index.
        <SectionView key={index} section={section} live={live} current={current} />
      ))}
      {stopped && <TurnStopped onRetry={onRetry} />}
      {error && <TurnFailed {...parseFailure(error)} canRetry={retryable !== false} onRetry={onRetry} />}
      {!live && sections.length > 0 && (
        <ResponseFooter message={message} last={last} onRetry={error || stopped ? undefined : onRetry} />
      )}
    </div>
  );
}

type SectionProps = { section: ResponseSection; live: boolean; current: boolean };

function SectionView({ section, live, current }: SectionProps) {
  switch (section.kind) {
    case 'text':
      return <ResponseText text={section.text} streaming={live && section.streaming} />;
    case 'reasoning':
      return <Reasoning text={section.text} streaming={live && section.streaming} />;
    case 'tools':
      return (
        <div className="flex flex-col gap-1.5">
          {section.calls.map((call) => (
            <Call key={call.toolCallId} part={call} live={live} current={current} />
          ))}
        </div>
      );
    case 'follow-ups':
      return section.messages.map(({ id, text }) => (
        <UserMessage key={id} text={text} label="You (follow-up)" />
      ));
    case 'compaction':
      return <CompactionNote data={section.data} />;
    case 'background':
      return <BackgroundNote calls={section.calls} />;
  }
}

const ResponseText = memo(Markdown);

type CallProps = { part: ToolPart; live: boolean; current: boolean };

/** The SDK copies every part with each group, so a card is rendered again only when a field of its part has changed. */
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
