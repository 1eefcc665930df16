// Calls that took longer than their time and went on beside the turn.

import type { BackgroundStatus } from '@/protocol';
import { Badge, type Tone } from '@/ui/badge';
import { duration } from '@/ui/format';
import { wordsFor } from '../tool-words';
import type { CardKinds, CardProps, Standing } from '../types';
import { Facts, Row, Rows } from './parts';

const STATES: Record<BackgroundStatus, { words: string; tone: Tone; standing: Standing }> = {
  completed: { words: 'Done', tone: 'good', standing: 'done' },
  still_running: { words: 'Still running', tone: 'accent', standing: 'background' },
  cancelled: { words: 'Stopped', tone: 'neutral', standing: 'stopped' },
  error: { words: 'Failed', tone: 'bad', standing: 'failed' },
};

function BackgroundCard({ response: { tool, timeout_seconds, background_id } }: CardProps<'background'>) {
  return (
    <>
      <p>
        {wordsFor(tool).label} takes longer than {duration(timeout_seconds * 1000)}. It goes on in the
        background while the turn does other things.
      </p>
      <Facts facts={[<code key="id">{background_id}</code>]} />
    </>
  );
}

function BackgroundStatusCard({ response, show }: CardProps<'background_tool_status'>) {
  const { tool, status, waited_seconds, output, background_id } = response;
  const { words, tone } = STATES[status] ?? STATES.still_running;
  return (
    <>
      <p className="flex flex-wrap items-center gap-2">
        <span className="font-medium break-words">{wordsFor(tool).label}</span>
        <Badge tone={tone}>{words}</Badge>
      </p>
      {output !== undefined && output !== null && show(output)}
      <Facts
        facts={[
          typeof waited_seconds === 'number' && `Waited ${duration(waited_seconds * 1000)} for it`,
          <code key="id">{background_id}</code>,
        ]}
      />
    </>
  );
}

function BackgroundListCard({ response: { tools } }: CardProps<'background_tool_list'>) {
  if (tools.length === 0) return <p className="text-muted">Nothing is in the background.</p>;
  return (
    <Rows>
      {tools.map(({ background_id, tool, age_seconds, done }) => (
        <Row key={background_id} className="flex flex-wrap items-center gap-2">
          <span className="min-w-0 flex-1 font-medium break-words">{wordsFor(tool).label}</span>
          <span className="text-xs text-muted tabular-nums">{duration(age_seconds * 1000)}</span>
          <Badge tone={done ? 'good' : 'accent'}>{done ? 'Done' : 'Running'}</Badge>
        </Row>
      ))}
    </Rows>
  );
}

export const background: CardKinds<'background' | 'background_tool_status' | 'background_tool_list'> = {
  background: {
    Card: BackgroundCard,
    // What is still in the background when a turn ends is ended with it.
    standing: (_, { live }) => (live ? 'background' : 'done'),
    note: () => 'In the background',
  },
  background_tool_status: {
    Card: BackgroundStatusCard,
    standing: ({ status }, { live }) => {
      const { standing } = STATES[status];
      return standing === 'background' && !live ? 'done' : standing;
    },
    phrase: ({ tool, status }) => `${wordsFor(tool).label}: ${STATES[status].words.toLowerCase()}`,
  },
  background_tool_list: { Card: BackgroundListCard, note: ({ count }) => `${count} in the background` },
};
