import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { LIBRARY } from '@/agents/agent-queries';
import { Button } from '@/ui/buttons/button';
import { showToast } from '@/ui/feedback/toast';
import { Select } from '@/ui/form/field';
import { useAttempt } from '@/ui/form/use-attempt';
import { when } from '@/ui/text/format';
import { type BuildTab, linkToTab } from '../build-tabs';
import { activateVersion, versionsQuery } from './version-requests';

type Props = {
  graphId: string;
  shown: number;
  /** The tab that stays open when another version is picked. */
  tab: BuildTab;
};

/** The shown version, as a list to pick another one, and a button that makes it the active one. */
export function VersionPicker({ graphId, shown, tab }: Props) {
  const navigate = useNavigate();
  const { data: versions } = useQuery(versionsQuery(graphId));
  if (!versions || versions.length < 2) {
    return <span className="text-sm text-muted">Version {shown}</span>;
  }
  const isInactive = versions.some(({ version, is_active }) => version === shown && !is_active);
  return (
    <div className="flex max-w-full flex-wrap items-center gap-2">
      {isInactive && <MakeActive graphId={graphId} version={shown} />}
      <div className="w-60 max-w-full">
        <Select
          aria-label="Version"
          value={shown}
          onChange={(event) => navigate(linkToTab(graphId, Number(event.target.value), tab))}
        >
          {versions.map((version) => (
            <option key={version.version} value={version.version}>
              Version {version.version}
              {version.is_active ? ', active' : ''} · {when(version.created_at)}
            </option>
          ))}
        </Select>
      </div>
    </div>
  );
}

type MakeActiveProps = { graphId: string; version: number; small?: boolean };

export function MakeActive({ graphId, version, small }: MakeActiveProps) {
  const client = useQueryClient();
  const { busy, problem, attempt } = useAttempt();

  async function activate() {
    const done = await attempt(() => activateVersion(graphId, version));
    if (!done) return;
    showToast(`Version ${version} is active now.`, 'good');
    await Promise.all([
      client.invalidateQueries({ queryKey: ['graph', graphId, 'versions'] }),
      client.invalidateQueries({ queryKey: ['graph', graphId, 'active'] }),
      client.invalidateQueries({ queryKey: LIBRARY }),
    ]);
  }

  return (
    <>
      {problem && (
        <p role="alert" className="text-sm text-bad">
          {problem}
        </p>
      )}
      <Button
        busy={busy}
        size={small ? 'small' : 'medium'}
        aria-label={small ? `Make active: version ${version}` : undefined}
        onClick={activate}
      >
        Make active
      </Button>
    </>
  );
}
