// Cards of calls without a result: failed, not signed in, nothing found.

import { LogIn } from 'lucide-react';
import { requireSignIn } from '@/api/identity';
import { asRecord } from '@/lib/json';
import { Button } from '@/ui/buttons/button';
import { Fold } from '@/ui/page/fold';
import { Json } from '@/ui/values/json';
import { Outputs } from '@/ui/values/values';
import type { CardKinds, CardProps } from '../types';
import {
  BuildingErrorDetails,
  isBuildingError,
  isGeneratorError,
  RetryGeneration,
  readDetails,
} from './building-errors';
import { FailedNodes } from './failed-nodes';
import { RunLink } from './links';
import { Facts } from './parts';

function ErrorCard({ response, part, current }: CardProps<'error'>) {
  const { message, error, details, execution_id } = response;
  const { library_agent_id } = asRecord(part.input);
  const agentId = typeof library_agent_id === 'string' ? library_agent_id : null;
  const isBuilding = isBuildingError(error);
  const { nodes_failed, outputs, ...rest } = isBuilding ? readDetails(details).rest : asRecord(details);
  const earlierOutputs = asRecord(outputs);
  const other = Object.keys(rest).length > 0 ? rest : typeof details === 'object' ? null : details;
  return (
    <>
      <p className="break-words whitespace-pre-wrap">{message}</p>
      {isBuilding && <BuildingErrorDetails details={details} />}
      {Array.isArray(nodes_failed) && <FailedNodes nodes={nodes_failed} />}
      {Object.keys(earlierOutputs).length > 0 && (
        <Fold title="Outputs before the failure">
          <Outputs outputs={earlierOutputs} />
        </Fold>
      )}
      {other !== null && other !== undefined && (
        <Fold title="Details">
          <Json value={other} />
        </Fold>
      )}
      {current && isGeneratorError(error) && <RetryGeneration part={part} />}
      <Facts
        facts={[
          error && <code className="font-mono">{error}</code>,
          execution_id && (
            <RunLink agentId={agentId} executionId={execution_id}>
              Run {execution_id}
            </RunLink>
          ),
        ]}
      />
    </>
  );
}

function NeedLoginCard({ response: { message } }: CardProps<'need_login'>) {
  return (
    <>
      <p className="break-words">{message}</p>
      <div>
        <Button kind="primary" icon={<LogIn className="size-4" />} onClick={requireSignIn}>
          Sign in
        </Button>
      </div>
    </>
  );
}

function NoResultsCard({ response: { message, suggestions } }: CardProps<'no_results'>) {
  return (
    <>
      <p className="break-words">{message}</p>
      {suggestions.length > 0 && (
        <ul className="list-disc pl-5 text-muted">
          {suggestions.map((suggestion) => (
            <li key={suggestion} className="break-words">
              {suggestion}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

export const errors: CardKinds<'error' | 'need_login' | 'no_results'> = {
  error: {
    Card: ErrorCard,
    status: ({ error }) => (error === 'cancelled' ? 'stopped' : 'failed'),
    // A failed run and an agent that could not be built have more details than fit in a row.
    opens: ({ execution_id, error }) => Boolean(execution_id) || isBuildingError(error),
  },
  need_login: { Card: NeedLoginCard, status: () => 'waiting', opens: true },
  no_results: { Card: NoResultsCard, note: () => 'No results' },
};
