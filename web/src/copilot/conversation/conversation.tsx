import { ArrowDown, WifiOff } from 'lucide-react';
import { useCallback, useEffect, useMemo, useRef } from 'react';
import { useStickToBottom } from 'use-stick-to-bottom';
import type { SessionHandle } from '@/session/types';
import { CardContext } from '@/tools/types';
import { Button } from '@/ui/button';
import { classes } from '@/ui/classes';
import { Announcer } from './announcer';
import { AtWork } from './at-work';
import { blocksOf, isMoving } from './blocks';
import { type Chunk, chunked } from './chunks';
import { TurnFailed } from './ending';
import { MessageGroup } from './message-group';
import { Older } from './older';
import { ScrollPlace } from './scroll-place';

/** The messages of a session, and what is going on in it. */
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
  // What this page has just sent; the history knows when the others were said.
  const sent = last?.role === 'user' && !last.metadata?.createdAt ? last.id : null;
  useEffect(() => {
    if (sent) scrollToBottom('instant');
  }, [sent, scrollToBottom]);
  const chunks = useChunks(messages);
  const scroller = useCallback(() => scrollRef.current, [scrollRef]);
  // The button that was pressed goes; the focus stays with the conversation.
  const focusLog = useCallback(() => scrollRef.current?.focus({ preventScroll: true }), [scrollRef]);
  const { retry } = handle;
  const onRetry = useCallback(() => {
    retry();
    focusLog();
  }, [retry, focusLog]);
  const answering = busy && last?.role === 'assistant' ? last : null;
  return (
    <CardContext.Provider value={actions}>
      <div className="relative min-h-0 flex-1">
        {/* Reachable by keyboard, so that it can be scrolled without a mouse. */}
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
            <Older handle={handle} root={scroller} />
            <ScrollPlace scroller={scrollRef} firstId={messages[0]?.id} onReadAbove={stopScroll}>
              {chunks.map((chunk) => (
                <MessageGroup
                  key={chunk.key}
                  chunk={chunk}
                  lastId={chunk.messages.at(-1) === last ? last?.id : undefined}
                  busy={chunk.messages.at(-1) === last && busy}
                  onRetry={onRetry}
                />
              ))}
            </ScrollPlace>
            {busy && (
              // As close to the answer as the footer that takes its place.
              <div className={answering ? '-mt-3' : undefined}>
                <AtWork handle={handle} quiet={answering !== null && isMoving(blocksOf(answering))} />
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
            Latest
          </Button>
        )}
        <Announcer handle={handle} />
      </div>
    </CardContext.Provider>
  );
}

/** The groups of the last drawing are what the next ones are compared with. */
function useChunks(messages: SessionHandle['messages']): Chunk[] {
  const before = useRef<Chunk[]>([]);
  const chunks = useMemo(() => chunked(before.current, messages), [messages]);
  before.current = chunks;
  return chunks;
}

/** Words fade where they leave the view, instead of being cut through. */
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
      The connection is lost. The answer goes on; trying again.
    </p>
  );
}
