import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useId } from 'react';
import { type Agent, LIBRARY } from '@/agents/agent-queries';
import { api, dataOf } from '@/api/client';
import { errorMessage } from '@/api/problem';
import type { SafeMode } from '@/protocol';
import { showToast } from '@/ui/feedback/toast';
import { Switch } from '@/ui/form/switch';
import { Panel } from '@/ui/page/page';

type Setting = keyof SafeMode;

const SETTINGS: { setting: Setting; label: string; hint: string; shown: (agent: Agent) => boolean }[] = [
  {
    setting: 'human_in_the_loop_safe_mode',
    label: 'Ask when the agent requests approval',
    hint: 'When off, requests are approved automatically.',
    shown: (agent) => agent.has_human_in_the_loop,
  },
  {
    setting: 'sensitive_action_safe_mode',
    label: 'Ask before external actions',
    hint: 'Before the agent sends a request or changes something outside Pilothouse.',
    shown: (agent) => agent.has_sensitive_action,
  },
];

/** Review settings of the agent; only those that apply to it are shown. */
export function SafeModePanel({ agent }: { agent: Agent }) {
  const settings = SETTINGS.filter(({ shown }) => shown(agent));
  if (settings.length === 0) return null;
  return (
    <Panel title="Reviews">
      <div className="flex flex-col gap-4">
        {settings.map((one) => (
          <SettingSwitch key={one.setting} agent={agent} {...one} />
        ))}
      </div>
    </Panel>
  );
}

function SettingSwitch({
  agent,
  setting,
  label,
  hint,
}: {
  agent: Agent;
  setting: Setting;
  label: string;
  hint: string;
}) {
  const id = useId();
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: (on: boolean) =>
      dataOf(
        api.PATCH('/api/graphs/{graph_id}/settings', {
          params: { path: { graph_id: agent.graph_id } },
          body: { [setting]: on },
        }),
      ),
    onError: (error) => showToast(errorMessage(error), 'bad'),
    onSettled: () => queries.invalidateQueries({ queryKey: LIBRARY }),
  });
  return (
    <div className="flex items-start gap-3">
      <Switch
        id={id}
        aria-describedby={`${id}-hint`}
        checked={change.isPending ? change.variables : (agent.settings[setting] ?? false)}
        disabled={change.isPending}
        onChange={(event) => change.mutate(event.target.checked)}
      />
      <label htmlFor={id} className="min-w-0 text-sm">
        {label}
        <span id={`${id}-hint`} className="block text-xs text-muted">
          {hint}
        </span>
      </label>
    </div>
  );
}
