import { useId, useMemo } from 'react';
import { classes } from '@/ui/classes';
import { type Call, opensByDefault, parseOutput, parseResult, readCall } from './call';
import { CallDetails } from './call-details';
import { CardBoundary } from './card-boundary';
import { CardHead } from './card-head';
import { useCardState } from './card-state';
import { GenericCard } from './generic-card';
import type { CardOf, ToolPart } from './types';

type Props = {
  part: ToolPart;
  /** The turn is running, so a call without a result will still get one. */
  live?: boolean;
  /** No user message follows the call, so its questions can still be answered. */
  current?: boolean;
  /** Open from the start, even if the card is closed by default. */
  open?: boolean;
};

/** One tool call: a row with its status, and a card with its result. */
export function ToolCard({ part, live = true, current = true, open: initiallyOpen = false }: Props) {
  const call = useMemo(() => readCall(part, { live, current }), [part, live, current]);
  const [chosen, choose] = useCardState<boolean | null>(`${part.toolCallId} open`, null);
  const bodyId = useId();
  const open = chosen ?? (initiallyOpen || opensByDefault(call.result));
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
  const { result, output, failure } = call;
  return (
    <>
      {failure && !result && <p className="break-words whitespace-pre-wrap text-bad">{failure}</p>}
      {output !== undefined && <ResultCard output={output} part={part} current={current} />}
      {output === undefined && !failure && <NoResult call={call} />}
      <CallDetails call={call} withOutput={result !== null} />
    </>
  );
}

/** Shows the output with the card of its type, or with the generic card if there is none or it fails to render. */
function ResultCard({ output, part, current }: { output: unknown; part: ToolPart; current: boolean }) {
  const result = parseResult(output);
  const generic = <GenericCard output={output} />;
  if (!result) return generic;
  const Card = result.kind.Card as CardOf<never>;
  return (
    <CardBoundary of={output} fallback={generic}>
      <Card
        response={result.response as never}
        part={part}
        current={current}
        show={(inner) => <ResultCard output={parseOutput(inner)} part={part} current={current} />}
      />
    </CardBoundary>
  );
}

function NoResult({ call }: { call: Call }) {
  const text =
    call.status === 'stopped'
      ? 'Stopped before it finished.'
      : call.status === 'preparing'
        ? 'Preparing…'
        : 'Running…';
  return <p className="text-muted">{text}</p>;
}
