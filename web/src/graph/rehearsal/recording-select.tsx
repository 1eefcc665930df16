import { useQuery } from '@tanstack/react-query';
import { api, dataOf } from '@/api/client';
import { Field, Select } from '@/ui/form/field';
import { when } from '@/ui/text/format';

type Props = {
  graphId: string;
  value: string | null;
  onChange: (executionId: string | null) => void;
  disabled: boolean;
};

/** An earlier run whose outputs answer for outside steps; nothing if there is none. */
export function RecordingSelect({ graphId, value, onChange, disabled }: Props) {
  const { data } = useQuery({
    queryKey: ['executions', 'recordings', graphId],
    queryFn: () =>
      dataOf(
        api.GET('/api/graphs/{graph_id}/executions', {
          params: { path: { graph_id: graphId }, query: { page: 1 } },
        }),
      ),
  });
  const runs = (data?.executions ?? []).filter(
    ({ status, stats }) => status === 'COMPLETED' && !stats.is_dry_run,
  );
  if (runs.length === 0) return null;
  return (
    <Field label="Outside steps" hint="Steps that would act outside are answered with this data.">
      {(control) => (
        <Select
          {...control}
          value={value ?? ''}
          disabled={disabled}
          onChange={(event) => onChange(event.target.value || null)}
        >
          <option value="">Made-up data</option>
          {runs.map(({ id, created_at }) => (
            <option key={id} value={id}>
              Recorded on {when(created_at)}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}
