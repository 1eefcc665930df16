import { useId, useMemo } from 'react';
import { classes } from '@/ui/classes';
import { answerIn, type Call, opensByItself, readCall } from './call';
import { CallDetails } from './call-details';
import { CardBoundary } from './card-boundary';
import { CardHead } from './card-head';
import { useRemembered } from './card-memory';
import { GenericCard } from './generic-card';
import { parsed } from './records';
import type { CardOf, ToolPart } from './types';

type Props = {
  part: ToolPart;
  /** The turn is at work: a call without a result will have one. */
  live?: boolean;
  /** Nobody has written after it: what it asks can still be answered. */
  current?: boolean;
  /** Unfolded from the start, also where the answer is not worth it. */
  open?: boolean;
};

/** One call of a tool: what it does, how far it is, and what came of it. */
export function ToolCard({ part, live = true, current = true, open: unfolded = false }: Props) {
  const call = useMemo(() => readCall(part, { live, current }), [part, live, current]);
  const [chosen, choose] = useRemembered<boolean | null>(`${part.toolCallId} open`, null);
  const bodyId = useId();
  const open = chosen ?? (unfolded || opensByItself(call.answer));
  return (
    <div
      className={classes(
        'min-w-0 rounded-xl border transition-colors',
        open ? 'border-line bg-surface' : 'border-transparent hover:bg-sunken',
      )}
    >
      <CardHead call={call} open={open} onToggle={() => choose(!open)} bodyId={bodyId} />
      {open && (
        <div id={bodyId} className="flex flex-col gap-3 px-3 pt-1 pb-3 text-sm">
          <CardBody call={call} part={part} current={current} />
        </div>
      )}
    </div>
  );
}

function CardBody({ call, part, current }: { call: Call; part: ToolPart; current: boolean }) {
  const { answer, output, failure } = call;
  return (
    <>
      {failure && !answer && <p className="break-words whitespace-pre-wrap text-bad">{failure}</p>}
      {output !== undefined && <AnswerCard output={output} part={part} current={current} />}
      {output === undefined && !failure && <NothingYet call={call} />}
      <CallDetails call={call} withOutput={answer !== null} />
    </>
  );
}

/** Whatever a tool has said, by the card for its kind; by the generic one if there is none, or if it fails. */
function AnswerCard({ output, part, current }: { output: unknown; part: ToolPart; current: boolean }) {
  const answer = answerIn(output);
  const generic = <GenericCard output={output} />;
  if (!answer) return generic;
  const Card = answer.kind.Card as CardOf<never>;
  return (
    <CardBoundary of={output} fallback={generic}>
      <Card
        response={answer.response as never}
        part={part}
        current={current}
        show={(inner) => <AnswerCard output={parsed(inner)} part={part} current={current} />}
      />
    </CardBoundary>
  );
}

function NothingYet({ call }: { call: Call }) {
  const words =
    call.standing === 'stopped'
      ? 'It was stopped before it had a result.'
      : call.standing === 'preparing'
        ? 'Its input is being written.'
        : 'The result is not there yet.';
  return <p className="text-muted">{words}</p>;
}
