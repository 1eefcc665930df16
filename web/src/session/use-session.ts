import { useChat } from '@ai-sdk/react';
import { useEffect, useMemo, useState } from 'react';
import { useStore } from '@/lib/store';
import { runtimeOf } from './registry';
import { isBusy } from './state';
import { parseFailure } from './turn-failure';
import type { CopilotMessage, SessionHandle } from './types';
import { visibleMessages } from './visible-messages';

/** How often a streaming response is rendered. */
const DRAW_MS = 50;

/** One session; `null` is a new chat, whose session is created with its first message. */
export function useSession(sessionId: string | null): SessionHandle {
  const runtime = useRuntime(sessionId);
  const state = useStore(runtime.store);
  const { messages } = useChat<CopilotMessage>({ chat: runtime.chat, throttle: DRAW_MS });
  useEffect(() => runtime.observe(), [runtime]);

  const visible = useMemo(
    () => visibleMessages(messages, runtime.transcript.beforeReplay),
    [messages, runtime],
  );
  const actions = useMemo(
    () => ({
      loadOlder: () => void runtime.loadOlder(),
      send: (text: string) => runtime.send(text),
      stop: () => runtime.stop(),
      retry: () => runtime.retry(),
      reload: () => runtime.sync(),
      dropFollowUp: (id: string) => runtime.dropFollowUp(id),
    }),
    [runtime],
  );
  const busy = isBusy(state.phase);
  return {
    key: runtime.key,
    ...state,
    messages: visible,
    busy,
    error: busy ? null : (state.error ?? errorOf(visible.at(-1))),
    ...actions,
  };
}

/** A new chat keeps its runtime when it gets its session id, while the URL is being updated. */
function useRuntime(sessionId: string | null) {
  const [current, setCurrent] = useState(() => ({ sessionId, runtime: runtimeOf(sessionId) }));
  if (current.sessionId === sessionId) return current.runtime;
  const next = { sessionId, runtime: runtimeOf(sessionId) };
  setCurrent(next);
  return next.runtime;
}

function errorOf(last: CopilotMessage | undefined): SessionHandle['error'] {
  const facts = last?.metadata;
  if (!facts?.error) return null;
  return { ...parseFailure(facts.error), canRetry: facts.retryable !== false };
}
