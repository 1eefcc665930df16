import { ArrowDown, WifiOff } from 'lucide-react';
import { useCallback, useEffect, useMemo, useRef } from 'react';
import { useStickToBottom } from 'use-stick-to-bottom';
import type { SessionHandle } from '@/session/types';
import { CardContext } from '@/tools/types';
import { Button } from '@/ui/buttons/button';
import { classes } from '@/ui/classes';
import { Announcer } from './announcer';
import { EarlierMessages } from './earlier-messages';
import { MessageGroup } from './message-group';
import { currentMessages, groupMessages, type MessageGroupData } from './message-groups';
import { sectionsOf, showsActivity } from './response-sections';
import { RunningIndicator } from './running-indicator';
import { ScrollAnchor } from './scroll-anchor';
import { TurnFailed } from './turn-ending';

/** The messages of a session, and its current status. */
export function Conversation({ handle }: { handle: SessionHandle }) {
  const { scrollRef, contentRef, isAtBottom, scrollToBottom, stopScroll } = useStickToBottom({
    initial: 'instant',
    resize: 'instant',
  });
  const { messages, busy, phase, error } = handle;
  const last = messages.at(-1);
  const actions = useMemo(
    () => ({ sessionId: handle.id, busy, send: handle.send }),
    [handle.id, busy, handle.send],
  );
  // A message this page has just sent; those from the history have a time.
  const sent = last?.role === 'user' && !last.metadata?.createdAt ? last.id : null;
  useEffect(() => {
    if (sent) scrollToBottom('instant');
  }, [sent, scrollToBottom]);
  const groups = useMessageGroups(messages);
  const current = useMemo(() => currentMessages(messages), [messages]);
  const scroller = useCallback(() => scrollRef.current, [scrollRef]);
  // The clicked button is removed; the focus stays in the message list.
  const focusLog = useCallback(() => scrollRef.current?.focus({ preventScroll: true }), [scrollRef]);
  const { retry } = handle;
  const onRetry = useCallback(() => {
    retry();
    focusLog();
  }, [retry, focusLog]);
  const runningResponse = busy && last?.role === 'assistant' ? last : null;
  return (
    <CardContext.Provider value={actions}>
      <div className="relative min-h-0 flex-1">
        {/* Focusable, so that it can be scrolled by keyboard. */}
        <div
          ref={scrollRef}
          role="log"
          aria-live="off"
          aria-label="Messages"
          aria-busy={busy}
          tabIndex={0}
          className="relative h-full overflow-y-auto overscroll-contain -outline-offset-2"
        >
          <div ref={contentRef} className="mx-auto flex w-full max-w-3xl flex-col gap-6 px-4 pt-6 pb-8">
            <EarlierMessages handle={handle} root={scroller} />
            <ScrollAnchor scroller={scrollRef} firstId={messages[0]?.id} onReadAbove={stopScroll}>
              {groups.map((group) => (
                <MessageGroup
                  key={group.key}
                  group={group}
                  lastId={group.messages.at(-1) === last ? last?.id : undefined}
                  currentFrom={group.messages.find((message) => current.has(message))?.id}
                  busy={group.messages.at(-1) === last && busy}
                  onRetry={onRetry}
                />
              ))}
            </ScrollAnchor>
            {busy && (
              // As close to the response as the footer that replaces it.
              <div className={runningResponse ? '-mt-3' : undefined}>
                <RunningIndicator
                  handle={handle}
                  quiet={runningResponse !== null && showsActivity(sectionsOf(runningResponse))}
                />
              </div>
            )}
            {error && !last?.metadata?.error && <TurnFailed {...error} onRetry={onRetry} />}
          </div>
        </div>
        <Edge className="top-0 bg-linear-to-b" />
        <Edge className="bottom-0 bg-linear-to-t" />
        {phase === 'reconnecting' && <Reconnecting />}
        {!isAtBottom && messages.length > 0 && (
          <Button
            className="absolute bottom-3 left-1/2 -translate-x-1/2 rounded-full shadow-card"
            icon={<ArrowDown aria-hidden className="size-4" />}
            onClick={() => {
              scrollToBottom('instant');
              focusLog();
            }}
          >
            Jump to latest
          </Button>
        )}
        <Announcer handle={handle} />
      </div>
    </CardContext.Provider>
  );
}

/** Compares with the groups of the previous render. */
function useMessageGroups(messages: SessionHandle['messages']): MessageGroupData[] {
  const before = useRef<MessageGroupData[]>([]);
  const groups = useMemo(() => groupMessages(before.current, messages), [messages]);
  before.current = groups;
  return groups;
}

/** Fades text out at the edges of the scroll area. */
function Edge({ className }: { className: string }) {
  return (
    <div
      aria-hidden
      className={classes('pointer-events-none absolute inset-x-0 h-5 from-canvas to-transparent', className)}
    />
  );
}

function Reconnecting() {
  return (
    <p className="absolute top-2 left-1/2 flex w-max max-w-[calc(100%-2rem)] -translate-x-1/2 items-center gap-2 rounded-full border border-warn/40 bg-warn-soft px-4 py-2 text-sm text-warn shadow-card">
      <WifiOff aria-hidden className="size-4 shrink-0" />
      Connection lost. The response keeps running; reconnecting…
    </p>
  );
}
