import { memo } from 'react';
import type { CopilotMessage } from '@/session/types';
import { classes } from '@/ui/classes';
import { Answer } from './answer';
import { type Chunk, estimatedHeight } from './chunks';
import { Question } from './question';
import { GROUP } from './scroll-place';

type Props = {
  chunk: Chunk;
  /** The newest message of the session, if it is in this group. */
  lastId: string | undefined;
  busy: boolean;
  onRetry: () => void;
};

/**
 * Some messages. The browser leaves a group that is out of sight alone, where it also keeps the place of what is read
 * when the group turns out to be higher or lower than it seemed.
 */
export const MessageGroup = memo(function MessageGroup({ chunk, lastId, busy, onRetry }: Props) {
  return (
    <div
      {...GROUP}
      style={{ containIntrinsicSize: `auto ${estimatedHeight(chunk)}px` }}
      className={classes(
        // Room for the outline of what has the focus: nothing is drawn outside of a group.
        '-mx-2 -my-1 flex flex-col gap-6 px-2 py-1',
        lastId === undefined && 'supports-[overflow-anchor:auto]:[content-visibility:auto]',
      )}
    >
      {chunk.messages.map((message) => {
        const last = message.id === lastId;
        return (
          <Message
            key={message.id}
            message={message}
            last={last}
            live={last && busy}
            onRetry={last && !busy ? onRetry : undefined}
          />
        );
      })}
    </div>
  );
});

type MessageProps = { message: CopilotMessage; live: boolean; last: boolean; onRetry?: () => void };

const Message = memo(function Message({ message, live, last, onRetry }: MessageProps) {
  return (
    <article data-testid={message.role === 'user' ? 'question' : 'answer'} className="min-w-0">
      {message.role === 'user' ? (
        <Question text={message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n')} />
      ) : (
        <Answer message={message} live={live} last={last} onRetry={onRetry} />
      )}
    </article>
  );
});
