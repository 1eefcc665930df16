import { useChat } from '@ai-sdk/react';
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { failureOf } from './failure';
import { runtimeOf } from './registry';
import { shown } from './shown';
import { isBusy } from './state';
import type { CopilotMessage, SessionHandle } from './types';

/** How often a streaming answer is drawn. */
const DRAW_MS = 50;

/** One conversation; `null` is one that begins with the next message. */
export function useSession(sessionId: string | null): SessionHandle {
  const runtime = useRuntime(sessionId);
  const state = useSyncExternalStore(runtime.store.subscribe, runtime.store.get);
  const { messages } = useChat<CopilotMessage>({ chat: runtime.chat, throttle: DRAW_MS });
  useEffect(() => runtime.observe(), [runtime]);

  const visible = useMemo(() => shown(messages, runtime.transcript.held), [messages, runtime]);
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

/** A conversation that gets its id stays the same one while the address catches up. */
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
  return { ...failureOf(facts.error), canRetry: facts.retryable !== false };
}
