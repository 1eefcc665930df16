// Cards of the tools that check and fix an agent.

import { CircleCheck } from 'lucide-react';
import type { ReactNode } from 'react';
import { AgentStateBadge, AgentStateHint } from '@/agents/agent-state';
import { DiffLines } from '@/agents/diff-lines';
import { ProblemList } from '@/agents/problem-list';
import { Fold } from '@/ui/page/fold';
import { amount } from '@/ui/text/format';
import type { CardKinds, CardProps } from '../types';
import { Facts } from './parts';

function ValidationCard({ response }: CardProps<'agent_builder_validation_result'>) {
  const { valid, state, errors, error_count, warnings } = response;
  return (
    <>
      <p className="flex flex-wrap items-center gap-2">
        <span className="font-medium">
          {valid ? 'No errors found.' : `${amount(error_count, 'error')} found.`}
        </span>
        <AgentStateBadge state={state} />
      </p>
      {valid && <AgentStateHint state={state} />}
      {errors.length > 0 && <ProblemList problems={errors} kind="error" total={error_count} />}
      {warnings.length > 0 && (
        <Fold title={amount(warnings.length, 'warning')} open={valid}>
          <ProblemList problems={warnings} kind="warning" />
        </Fold>
      )}
    </>
  );
}

function FixCard({ response }: CardProps<'agent_builder_fix_result'>) {
  const { fixes_applied, fix_count, fix_diff, fixed_agent_ref, valid_after_fix, remaining_errors } = response;
  return (
    <>
      {fix_count === 0 && <p className="text-muted">There was nothing that could be fixed automatically.</p>}
      {fixes_applied.length > 0 && (
        <Part title={fixed(fix_count)}>
          <ProblemList problems={fixes_applied} kind="fixed" total={fix_count} />
        </Part>
      )}
      {fix_diff && (
        <Fold title="Changes" open>
          <DiffLines diff={fix_diff} />
        </Fold>
      )}
      {remaining_errors.length > 0 ? (
        <Part title={`${amount(remaining_errors.length, 'error')} left`}>
          <ProblemList problems={remaining_errors} kind="error" />
        </Part>
      ) : (
        valid_after_fix && (
          <p className="flex items-center gap-2">
            <CircleCheck aria-hidden className="size-4 shrink-0 text-good" />
            The agent has no errors now.
          </p>
        )
      )}
      <Facts facts={[fixed_agent_ref && <span className="break-all">Written to {fixed_agent_ref}</span>]} />
    </>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="flex flex-col gap-2">
      <p className="font-medium">{title}</p>
      {children}
    </div>
  );
}

function fixed(fixes: number): string {
  return `Fixed ${amount(fixes, 'problem')}`;
}

export const agentChecks: CardKinds<'agent_builder_validation_result' | 'agent_builder_fix_result'> = {
  agent_builder_validation_result: {
    Card: ValidationCard,
    opens: ({ valid }) => !valid,
    phrase: ({ valid }) => (valid ? 'The agent has no errors' : 'The agent has errors'),
    note: ({ valid, error_count }) => (valid ? null : amount(error_count, 'error')),
  },
  agent_builder_fix_result: {
    Card: FixCard,
    opens: true,
    phrase: ({ fix_count }) => (fix_count === 0 ? 'Nothing to fix automatically' : fixed(fix_count)),
    note: ({ remaining_errors }) =>
      remaining_errors.length === 0 ? null : `${remaining_errors.length} left`,
  },
};
