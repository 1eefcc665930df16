// A part of the work that another session does.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowUpRight, Check } from 'lucide-react';
import { api, dataOf } from '@/api/client';
import type { SubSessionCall, SubSessionState } from '@/protocol';
import { Badge, type Tone } from '@/ui/badge';
import { buttonClasses } from '@/ui/button';
import { Fold } from '@/ui/fold';
import { duration } from '@/ui/format';
import { Markdown } from '@/ui/markdown';
import { Spinner } from '@/ui/spinner';
import { wordsFor } from '../tool-words';
import type { CardKinds, CardProps, Standing } from '../types';
import { FileList } from './file-list';
import { isGone } from './gone';
import { Buttons, Facts } from './parts';

const POLL_MS = 3_000;

const STATES: Record<SubSessionState, { words: string; tone: Tone; standing: Standing }> = {
  completed: { words: 'Answered', tone: 'good', standing: 'done' },
  running: { words: 'At work', tone: 'accent', standing: 'background' },
  queued: { words: 'Waits for its turn', tone: 'neutral', standing: 'background' },
  cancelled: { words: 'Stopped', tone: 'neutral', standing: 'stopped' },
  error: { words: 'Failed', tone: 'bad', standing: 'failed' },
};

function SubSessionCard({ response, part }: CardProps<'sub_session_status'>) {
  const { status, sub_session_id, response: answer, error, tool_calls, elapsed_seconds, progress } = response;
  const unfinished = status === 'running' || status === 'queued';
  // While the call itself goes on, its stream says what there is to say.
  const asked = unfinished && !(part.state === 'output-available' && part.preliminary);
  const end = useEnd(sub_session_id, asked);
  const { words, tone } = end ?? STATES[status];
  const said = answer ?? end?.answer;
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <Badge tone={tone}>
          {unfinished && !end && <Spinner className="size-3" />}
          {words}
        </Badge>
        <Facts
          facts={[
            elapsed_seconds > 0 && `After ${duration(elapsed_seconds * 1000)}`,
            callsInWords(tool_calls),
          ]}
        />
      </div>
      {error && <p className="break-words text-bad">{error}</p>}
      {said && (
        <div className="min-w-0 border-l-2 border-line pl-3">
          <Markdown text={said} />
        </div>
      )}
      {tool_calls.length > 0 && (
        <Fold title="What it did">
          <Calls calls={tool_calls} />
        </Fold>
      )}
      {progress && progress.last_messages.length > 0 && (
        <Fold title={`Its last messages of ${progress.message_count}`}>
          <ul className="flex flex-col gap-2">
            {progress.last_messages.map(({ role, content }, place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the messages stay in their order.
              <li key={place} className="break-words">
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
  return (
    <ul className="flex flex-col gap-1">
      {calls.map(({ tool_call_id, tool_name, done }) => {
        const { label, Icon, doing, done: did } = wordsFor(tool_name);
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

type End = { words: string; tone: Tone; answer: string | null };

/** How it has ended, if it has: an answer in the history only says how it stood. */
function useEnd(id: string, asked: boolean): End | null {
  const { data, error } = useQuery({
    queryKey: ['sub-session', id],
    queryFn: () =>
      dataOf(
        api.GET('/api/chat/sessions/{session_id}', {
          params: { path: { session_id: id }, query: { limit: 1 } },
        }),
      ),
    refetchInterval: ({ state }) =>
      state.data?.chat_status === 'idle' || isGone(state.error) ? false : POLL_MS,
    // Left open where it is wanted, so that a page without a server can close it for all.
    ...(asked ? {} : { enabled: false }),
  });
  if (!asked) return null;
  if (isGone(error)) return { words: 'Not there any more', tone: 'neutral', answer: null };
  if (data?.chat_status !== 'idle') return null;
  const last = data.messages.at(-1);
  const answer = last?.role === 'assistant' && last.content ? last.content : null;
  // It may have failed or been stopped: only an answer says that it went well.
  return { words: 'Has ended', tone: answer ? 'good' : 'neutral', answer };
}

function callsInWords(calls: readonly SubSessionCall[]): string | null {
  return calls.length === 0 ? null : calls.length === 1 ? '1 call' : `${calls.length} calls`;
}

export const subSessions: CardKinds<'sub_session_status'> = {
  sub_session_status: {
    Card: SubSessionCard,
    opens: true,
    standing: ({ status }, { live }) => {
      const { standing } = STATES[status];
      return standing === 'background' && !live ? 'done' : standing;
    },
  },
};
