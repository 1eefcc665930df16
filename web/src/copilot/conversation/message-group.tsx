import { memo } from 'react';
import type { CopilotMessage } from '@/session/types';
import { classes } from '@/ui/classes';
import { AssistantMessage } from './assistant-message';
import { estimatedHeight, type MessageGroupData } from './message-groups';
import { GROUP } from './scroll-anchor';
import { UserMessage } from './user-message';

type Props = {
  group: MessageGroupData;
  /** The id of the newest message, if it is in this group. */
  lastId: string | undefined;
  /** The id of the first message that no user message follows, if it is in this group. */
  currentFrom: string | undefined;
  busy: boolean;
  onRetry: () => void;
};

/**
 * A group of messages. The browser skips the rendering of off-screen groups, and keeps the scroll position when a
 * group's real height differs from the estimate.
 */
export const MessageGroup = memo(function MessageGroup({ group, lastId, currentFrom, busy, onRetry }: Props) {
  const firstCurrent = group.messages.findIndex(({ id }) => id === currentFrom);
  return (
    <div
      {...GROUP}
      style={{ containIntrinsicSize: `auto ${estimatedHeight(group)}px` }}
      className={classes(
        // Space for focus outlines: `content-visibility` clips everything outside the group.
        '-mx-2 -my-1 flex flex-col gap-6 px-2 py-1',
        lastId === undefined && 'supports-[overflow-anchor:auto]:[content-visibility:auto]',
      )}
    >
      {group.messages.map((message, index) => {
        const last = message.id === lastId;
        return (
          <Message
            key={message.id}
            message={message}
            last={last}
            current={firstCurrent >= 0 && index >= firstCurrent}
            live={last && busy}
            onRetry={last && !busy ? onRetry : undefined}
          />
        );
      })}
    </div>
  );
});

type MessageProps = {
  message: CopilotMessage;
  live: boolean;
  last: boolean;
  current: boolean;
  onRetry?: () => void;
};

const Message = memo(function Message({ message, ...rest }: MessageProps) {
  return (
    <article data-testid={message.role === 'user' ? 'user-message' : 'assistant-message'} className="min-w-0">
      {message.role === 'user' ? (
        <UserMessage text={message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n')} />
      ) : (
        <AssistantMessage message={message} {...rest} />
      )}
    </article>
  );
});
