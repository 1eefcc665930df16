import { useId, useState } from 'react';
import { Markdown } from '@/ui/markdown';
import { Panel } from '@/ui/page';
import type { Values } from '@/ui/schema-form';
import { SchemaForm } from '@/ui/schema-form';
import { fieldsOf } from '@/ui/schema-form/schema';
import { Switch } from '@/ui/switch';
import type { Agent } from './agents';
import { RunRefused } from './run-refused';
import { SafeModePanel } from './safe-mode';
import { inputErrors, useStartRun } from './start-run';

/** The form that starts a run, and what to know before. */
export function RunTab({ agent, initial }: { agent: Agent; initial: Values }) {
  const start = useStartRun(agent);
  const [rehearse, setRehearse] = useState(false);
  const rehearsal = useId();
  const wrongInputs = inputErrors(start.error);
  const outputs = fieldsOf(agent.output_schema);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
      <Panel title="Inputs">
        <SchemaForm
          schema={agent.input_schema}
          initial={initial}
          submitLabel={rehearse ? 'Rehearse' : 'Run'}
          busy={start.isPending}
          errors={wrongInputs ?? undefined}
          onSubmit={(inputs) => start.mutate({ inputs, dryRun: rehearse })}
        >
          <span className="flex min-h-10 items-center gap-2">
            <Switch
              id={rehearsal}
              checked={rehearse}
              aria-describedby={`${rehearsal}-note`}
              onChange={(event) => setRehearse(event.target.checked)}
            />
            <label htmlFor={rehearsal} className="text-sm">
              Rehearsal
              <span id={`${rehearsal}-note`} className="block text-xs text-muted">
                Nothing is sent, changed or charged.
              </span>
            </label>
          </span>
        </SchemaForm>
        {start.error && !wrongInputs && (
          <div className="mt-4">
            <RunRefused error={start.error} />
          </div>
        )}
      </Panel>
      <div className="flex min-w-0 flex-col gap-6">
        {agent.instructions && (
          <Panel title="How to use it">
            <div className="text-sm">
              <Markdown text={agent.instructions} />
            </div>
          </Panel>
        )}
        {outputs.length > 0 && (
          <Panel title="What it gives">
            <dl className="flex flex-col gap-3 text-sm">
              {outputs.map((output) => (
                <div key={output.name}>
                  <dt className="font-medium break-words">{output.label}</dt>
                  {output.description && <dd className="break-words text-muted">{output.description}</dd>}
                </div>
              ))}
            </dl>
          </Panel>
        )}
        <SafeModePanel agent={agent} />
      </div>
    </div>
  );
}
