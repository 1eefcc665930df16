import { useId, useState } from 'react';
import type { Agent } from '@/agents/agent-queries';
import { inputErrors } from '@/agents/input-errors';
import { Switch } from '@/ui/form/switch';
import { Markdown } from '@/ui/markdown/markdown';
import { Panel } from '@/ui/page/page';
import { FieldList } from '@/ui/schema-form/field-list';
import { fieldsOf } from '@/ui/schema-form/schema';
import type { Values } from '@/ui/schema-form/schema-form';
import { SchemaForm } from '@/ui/schema-form/schema-form';
import { SafeModePanel } from './safe-mode';
import { useStartRun } from './start-run';
import { StartRunError } from './start-run-error';

/** Tab with the form to run the agent, its instructions, outputs and review settings. */
export function RunTab({ agent, initial }: { agent: Agent; initial: Values }) {
  const start = useStartRun(agent);
  const [dryRun, setDryRun] = useState(false);
  const switchId = useId();
  const fieldErrors = inputErrors(start.error);
  const outputs = fieldsOf(agent.output_schema);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
      <Panel title="Inputs">
        <SchemaForm
          schema={agent.input_schema}
          initial={initial}
          submitLabel={dryRun ? 'Dry run' : 'Run'}
          busy={start.isPending}
          errors={fieldErrors ?? undefined}
          onSubmit={(inputs) => start.mutate({ inputs, dryRun })}
        >
          <span className="flex min-h-10 items-center gap-2">
            <Switch
              id={switchId}
              checked={dryRun}
              aria-describedby={`${switchId}-note`}
              onChange={(event) => setDryRun(event.target.checked)}
            />
            <label htmlFor={switchId} className="text-sm">
              Dry run
              <span id={`${switchId}-note`} className="block text-xs text-muted">
                Nothing is sent, changed or charged.
              </span>
            </label>
          </span>
        </SchemaForm>
        {start.error && !fieldErrors && (
          <div className="mt-4">
            <StartRunError error={start.error} />
          </div>
        )}
      </Panel>
      <div className="flex min-w-0 flex-col gap-6">
        {agent.instructions && (
          <Panel title="Instructions">
            <div className="text-sm">
              <Markdown text={agent.instructions} />
            </div>
          </Panel>
        )}
        {outputs.length > 0 && (
          <Panel title="Outputs">
            <FieldList fields={outputs} />
          </Panel>
        )}
        <SafeModePanel agent={agent} />
      </div>
    </div>
  );
}
