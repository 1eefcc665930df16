// Errors of the tools that build agents, with more than a message.

import { RotateCcw } from 'lucide-react';
import { AgentDiffView } from '@/agents/agent-diff-view';
import { ProblemList } from '@/agents/problem-list';
import { asRecord } from '@/lib/json';
import type { AgentDiff, GraphProblem } from '@/protocol';
import { Button } from '@/ui/buttons/button';
import { tryAgainMessage } from '../building-messages';
import type { ToolPart } from '../types';
import { useCardSend } from '../use-card-send';
import { goalOf } from './building-goal';
import { Buttons, SendOutcome } from './parts';

const GENERATOR_ERRORS = [
  'decomposition_failed',
  'generation_failed',
  'update_generation_failed',
  'customization_failed',
  'customization_service_error',
  'save_failed',
];

/** Whether asking again may help: the failure was not in what was asked for. */
export function isGeneratorError(error: unknown): boolean {
  return typeof error === 'string' && GENERATOR_ERRORS.includes(error.split(':')[0] ?? '');
}

/** Whether an error has something to show in an open card. */
export function isBuildingError(error: unknown): boolean {
  return error === 'validation_failed' || error === 'stale_version' || isGeneratorError(error);
}

/** What the details of an error say: the problems of an agent, or what changed meanwhile. Returns the rest of them. */
export function readDetails(details: unknown) {
  const { errors, error_count, newest_version, diff, ...rest } = asRecord(details);
  const problems = Array.isArray(errors) && errors.every(isProblem) ? (errors as GraphProblem[]) : [];
  return {
    problems,
    problemCount: typeof error_count === 'number' ? error_count : problems.length,
    newest: typeof newest_version === 'number' ? newest_version : null,
    diff: isDiff(diff) ? diff : null,
    rest,
  };
}

export function BuildingErrorDetails({ details }: { details: unknown }) {
  const { problems, problemCount, newest, diff } = readDetails(details);
  return (
    <>
      {problems.length > 0 && <ProblemList problems={problems} kind="error" total={problemCount} />}
      {diff && (
        <div className="flex flex-col gap-2">
          <p className="font-medium">
            {newest === null ? 'What changed meanwhile' : `What changed up to version ${newest}`}
          </p>
          <AgentDiffView diff={diff} />
        </div>
      )}
    </>
  );
}

/** Asks the copilot to try the failed call again. */
export function RetryGeneration({ part }: { part: ToolPart }) {
  const send = useCardSend(`${part.toolCallId} again`);
  return (
    <>
      {send.sent === null && (
        <Buttons>
          <Button
            icon={<RotateCcw aria-hidden className="size-4" />}
            busy={send.sending}
            onClick={() => void send.submit(tryAgainMessage(goalOf(part)))}
          >
            Try again
          </Button>
        </Buttons>
      )}
      <SendOutcome send={send} sent="Sent to the copilot." />
    </>
  );
}

function isProblem(value: unknown): boolean {
  return typeof asRecord(value).message === 'string';
}

function isDiff(value: unknown): value is AgentDiff {
  const { about, steps, links } = asRecord(value);
  return Array.isArray(about) && typeof steps === 'object' && typeof links === 'object';
}
