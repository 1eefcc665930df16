// Card of a sub-session: a session that a turn has started.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowUpRight, Check } from 'lucide-react';
import { api, dataOf } from '@/api/client';
import { isNotFound } from '@/api/problem';
import type { SubSessionCall, SubSessionState } from '@/protocol';
import { buttonClasses } from '@/ui/buttons/button';
import { Badge, type Tone } from '@/ui/feedback/badge';
import { Spinner } from '@/ui/feedback/spinner';
import { Markdown } from '@/ui/markdown/markdown';
import { Fold } from '@/ui/page/fold';
import { duration } from '@/ui/text/format';
import { useToolLabels } from '../tool-labels';
import type { CallStatus, CardKinds, CardProps } from '../types';
import { FileList } from './file-list';
import { Buttons, Facts } from './parts';

const POLL_MS = 3_000;

const STATES: Record<SubSessionState, { label: string; tone: Tone; callStatus: CallStatus }> = {
  completed: { label: 'Finished', tone: 'good', callStatus: 'done' },
  running: { label: 'Running', tone: 'accent', callStatus: 'background' },
  queued: { label: 'Queued', tone: 'neutral', callStatus: 'background' },
  cancelled: { label: 'Stopped', tone: 'neutral', callStatus: 'stopped' },
  error: { label: 'Failed', tone: 'bad', callStatus: 'failed' },
};

function SubSessionCard({ response, part }: CardProps<'sub_session_status'>) {
  const { status, sub_session_id, response: answer, error, tool_calls, elapsed_seconds, progress } = response;
  const unfinished = status === 'running' || status === 'queued';
  // While the call itself is running, its preliminary output has the status.
  const polled = unfinished && !(part.state === 'output-available' && part.preliminary);
  const end = useSubSessionEnd(sub_session_id, polled);
  const { label, tone } = end ?? STATES[status];
  const text = answer ?? end?.answer;
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <Badge tone={tone}>
          {unfinished && !end && <Spinner className="size-3" />}
          {label}
        </Badge>
        <Facts
          facts={[elapsed_seconds > 0 && elapsedFact(status, elapsed_seconds * 1000), callCount(tool_calls)]}
        />
      </div>
      {error && <p className="break-words text-bad">{error}</p>}
      {text && (
        <div className="min-w-0 border-l-2 border-line pl-3">
          <Markdown text={text} />
        </div>
      )}
      {tool_calls.length > 0 && (
        <Fold title="Tool calls">
          <Calls calls={tool_calls} />
        </Fold>
      )}
      {progress && progress.last_messages.length > 0 && (
        <Fold title={`Latest of ${progress.message_count} messages`}>
          <ul className="flex flex-col gap-2">
            {progress.last_messages.map(({ role, content }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the order of the messages never changes.
              <li key={index} className="break-words">
                <span className="text-xs text-muted">{role}</span>
                <p className="whitespace-pre-wrap">{content}</p>
              </li>
            ))}
          </ul>
        </Fold>
      )}
      {response.sub_workspace_files && response.sub_workspace_files.length > 0 && (
        <FileList files={response.sub_workspace_files} sessionId={sub_session_id} />
      )}
      <Buttons>
        <Link to="/copilot" search={{ sessionId: sub_session_id }} className={buttonClasses()}>
          Open sub-session
          <ArrowUpRight aria-hidden className="size-4" />
        </Link>
      </Buttons>
    </>
  );
}

function Calls({ calls }: { calls: readonly SubSessionCall[] }) {
  const labelsFor = useToolLabels();
  return (
    <ul className="flex flex-col gap-1">
      {calls.map(({ tool_call_id, tool_name, done }) => {
        const { label, Icon, doing, done: did } = labelsFor(tool_name);
        return (
          <li key={tool_call_id} className="flex items-center gap-2">
            <Icon aria-hidden className="size-4 shrink-0 text-muted" />
            <span className="min-w-0 break-words">
              {label} <span className="text-muted">{done ? did : doing}</span>
            </span>
            {done ? <Check aria-hidden className="size-3.5 text-good" /> : <Spinner className="size-3.5" />}
          </li>
        );
      })}
    </ul>
  );
}

type SubSessionEnd = { label: string; tone: Tone; answer: string | null };

/** The end of a sub-session, polled: a response in the history only has the status at its time. */
function useSubSessionEnd(id: string, polled: boolean): SubSessionEnd | null {
  const { data, error } = useQuery({
    queryKey: ['sub-session', id],
    queryFn: () =>
      dataOf(
        api.GET('/api/chat/sessions/{session_id}', {
          params: { path: { session_id: id }, query: { limit: 1 } },
        }),
      ),
    refetchInterval: ({ state }) =>
      state.data?.chat_status === 'idle' || isNotFound(state.error) ? false : POLL_MS,
    // `enabled` is left unset otherwise, so that the style guide can disable all queries by default.
    ...(polled ? {} : { enabled: false }),
  });
  if (!polled) return null;
  if (isNotFound(error)) return { label: 'No longer available', tone: 'neutral', answer: null };
  if (data?.chat_status !== 'idle') return null;
  const last = data.messages.at(-1);
  const answer = last?.role === 'assistant' && last.content ? last.content : null;
  // An idle session may have failed or been stopped; only an answer means success.
  return { label: 'Finished', tone: answer ? 'good' : 'neutral', answer };
}

/** Reads on from the badge: "Finished in 2.0 s". */
function elapsedFact(status: SubSessionState, ms: number): string {
  return status === 'completed' ? `in ${duration(ms)}` : duration(ms);
}

function callCount(calls: readonly SubSessionCall[]): string | null {
  return calls.length === 0 ? null : calls.length === 1 ? '1 tool call' : `${calls.length} tool calls`;
}

export const subSessions: CardKinds<'sub_session_status'> = {
  sub_session_status: {
    Card: SubSessionCard,
    opens: true,
    status: ({ status }, { live }) => {
      const { callStatus } = STATES[status];
      return callStatus === 'background' && !live ? 'done' : callStatus;
    },
  },
};
