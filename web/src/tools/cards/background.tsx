// Cards of background calls: tool calls that continue after their time budget.

import type { BackgroundStatus } from '@/protocol';
import { Badge, type Tone } from '@/ui/feedback/badge';
import { duration } from '@/ui/text/format';
import { useToolLabels } from '../tool-labels';
import type { CallStatus, CardKinds, CardProps } from '../types';
import { Facts, Row, Rows } from './parts';

const STATES: Record<BackgroundStatus, { label: string; tone: Tone; callStatus: CallStatus }> = {
  completed: { label: 'Done', tone: 'good', callStatus: 'done' },
  still_running: { label: 'Still running', tone: 'accent', callStatus: 'background' },
  cancelled: { label: 'Stopped', tone: 'neutral', callStatus: 'stopped' },
  error: { label: 'Failed', tone: 'bad', callStatus: 'failed' },
};

function BackgroundCard({ response: { tool, timeout_seconds, background_id } }: CardProps<'background'>) {
  const labelsFor = useToolLabels();
  return (
    <>
      <p>
        {labelsFor(tool).label} is taking longer than {duration(timeout_seconds * 1000)}. It continues in the
        background.
      </p>
      <Facts facts={[<code key="id">{background_id}</code>]} />
    </>
  );
}

function BackgroundStatusCard({ response, show }: CardProps<'background_tool_status'>) {
  const labelsFor = useToolLabels();
  const { tool, status, waited_seconds, output, background_id } = response;
  const { label, tone } = STATES[status] ?? STATES.still_running;
  return (
    <>
      <p className="flex flex-wrap items-center gap-2">
        <span className="font-medium break-words">{labelsFor(tool).label}</span>
        <Badge tone={tone}>{label}</Badge>
      </p>
      {output !== undefined && output !== null && show(output)}
      <Facts
        facts={[
          typeof waited_seconds === 'number' && `Waited ${duration(waited_seconds * 1000)}`,
          <code key="id">{background_id}</code>,
        ]}
      />
    </>
  );
}

function BackgroundListCard({ response: { tools } }: CardProps<'background_tool_list'>) {
  const labelsFor = useToolLabels();
  if (tools.length === 0) return <p className="text-muted">No background tasks.</p>;
  return (
    <Rows>
      {tools.map(({ background_id, tool, age_seconds, done }) => (
        <Row key={background_id} className="flex flex-wrap items-center gap-2">
          <span className="min-w-0 flex-1 font-medium break-words">{labelsFor(tool).label}</span>
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
    // A background call that is still running when its turn ends is canceled.
    status: (_, { live }) => (live ? 'background' : 'done'),
    note: () => 'In the background',
  },
  background_tool_status: {
    Card: BackgroundStatusCard,
    status: ({ status }, { live }) => {
      const { callStatus } = STATES[status];
      return callStatus === 'background' && !live ? 'done' : callStatus;
    },
    phrase: ({ tool, status }, labelsFor) =>
      `${labelsFor(tool).label}: ${STATES[status].label.toLowerCase()}`,
  },
  background_tool_list: { Card: BackgroundListCard, note: ({ count }) => `${count} in the background` },
};
