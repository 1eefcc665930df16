import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { History, RotateCcw } from 'lucide-react';
import { useState } from 'react';
import { AgentDiffView } from '@/agents/agent-diff-view';
import type { GraphMeta } from '@/protocol';
import { Button, buttonClasses } from '@/ui/buttons/button';
import { Badge } from '@/ui/feedback/badge';
import { showToast } from '@/ui/feedback/toast';
import { Field, Select } from '@/ui/form/field';
import { useAttempt } from '@/ui/form/use-attempt';
import { Panel } from '@/ui/page/page';
import { Empty, Failure, Loading } from '@/ui/page/states';
import { when } from '@/ui/text/format';
import { linkToTab } from '../build-tabs';
import { useShowSaved } from './use-show-saved';
import { MakeActive } from './version-picker';
import { diffQuery, restoreVersion, versionsQuery } from './version-requests';

/** Tab with all versions of an agent: to view, compare and restore them. */
export function VersionsTab({ graphId, shown }: { graphId: string; shown: number }) {
  const versions = useQuery(versionsQuery(graphId));
  if (versions.data === null) {
    return (
      <Empty icon={<History />} title="Versions are not visible to you">
        Only the owner of this agent can see its versions.
      </Empty>
    );
  }
  if (!versions.data) {
    return (
      <div className="p-4">
        {versions.error ? (
          <Failure
            error={versions.error}
            title="Couldn't load the versions"
            onRetry={() => versions.refetch()}
          />
        ) : (
          <Loading label="Loading versions" rows={3} height="h-14" />
        )}
      </div>
    );
  }
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-6 p-4 lg:grid-cols-2">
      <Panel title="Versions">
        <ul className="flex flex-col divide-y divide-line">
          {versions.data.map((version) => (
            <VersionRow
              key={version.version}
              graphId={graphId}
              version={version}
              isShown={version.version === shown}
              isNewest={version === versions.data?.[0]}
            />
          ))}
        </ul>
      </Panel>
      {versions.data.length > 1 ? (
        // The key compares the two newest again when there is a new version.
        <Comparison
          key={versions.data[0]?.version}
          graphId={graphId}
          versions={versions.data}
          shown={shown}
        />
      ) : (
        <p className="text-sm text-muted">
          There is only one version. Later ones can be compared with it here.
        </p>
      )}
    </div>
  );
}

type RowProps = { graphId: string; version: GraphMeta; isShown: boolean; isNewest: boolean };

function VersionRow({
  graphId,
  version: { version, is_active, created_at, name },
  isShown,
  isNewest,
}: RowProps) {
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-2 py-2.5 text-sm">
      <div className="min-w-0 flex-1 basis-48">
        <p className="flex flex-wrap items-center gap-2">
          <span className="font-medium">Version {version}</span>
          {is_active && <Badge tone="good">Active</Badge>}
          {isShown && <Badge>Shown</Badge>}
        </p>
        <p className="text-xs break-words text-muted">
          {when(created_at)} · {name || 'Untitled agent'}
        </p>
      </div>
      <div className="flex flex-wrap items-center gap-2">
        {!isShown && (
          <Link
            {...linkToTab(graphId, version, 'graph')}
            aria-label={`View version ${version}`}
            className={buttonClasses('quiet', 'small')}
          >
            View
          </Link>
        )}
        {!is_active && <MakeActive graphId={graphId} version={version} small />}
        {!isNewest && <Restore graphId={graphId} version={version} />}
      </div>
    </li>
  );
}

function Restore({ graphId, version }: { graphId: string; version: number }) {
  const showSaved = useShowSaved();
  const { busy, problem, attempt } = useAttempt();

  async function restore() {
    await attempt(async () => {
      const graph = await restoreVersion(graphId, version);
      showSaved(graph, 'versions');
      showToast(`Restored version ${version} as version ${graph.version}.`, 'good');
    });
  }

  return (
    <>
      {problem && (
        <p role="alert" className="text-bad">
          {problem}
        </p>
      )}
      <Button
        size="small"
        icon={<RotateCcw aria-hidden className="size-4" />}
        busy={busy}
        aria-label={`Restore version ${version}`}
        title="Saves this version again, as the newest one"
        onClick={() => void restore()}
      >
        Restore
      </Button>
    </>
  );
}

type ComparisonProps = { graphId: string; versions: GraphMeta[]; shown: number };

/** The difference of any two versions; at first of the shown one and the one before it. */
function Comparison({ graphId, versions, shown }: ComparisonProps) {
  const numbers = versions.map(({ version }) => version);
  const later = numbers.find((version) => version === shown && version !== numbers.at(-1)) ?? numbers[0] ?? 1;
  const [to, setTo] = useState(later);
  const [from, setFrom] = useState(numbers[numbers.indexOf(later) + 1] ?? later);
  const diff = useQuery(diffQuery(graphId, from, to));
  return (
    <Panel title="Compare">
      <div className="mb-4 grid grid-cols-2 gap-3">
        <VersionSelect label="From" versions={numbers} value={from} onChange={setFrom} />
        <VersionSelect label="To" versions={numbers} value={to} onChange={setTo} />
      </div>
      <div aria-live="polite" className="text-sm">
        {diff.data && <AgentDiffView diff={diff.data} />}
        {!diff.data && diff.error && (
          <Failure error={diff.error} title="Couldn't compare the versions" onRetry={() => diff.refetch()} />
        )}
        {!diff.data && !diff.error && <Loading label="Comparing" rows={1} height="h-24" />}
      </div>
    </Panel>
  );
}

type SelectProps = { label: string; versions: number[]; value: number; onChange: (version: number) => void };

function VersionSelect({ label, versions, value, onChange }: SelectProps) {
  return (
    <Field label={label}>
      {(control) => (
        <Select {...control} value={value} onChange={(event) => onChange(Number(event.target.value))}>
          {versions.map((version) => (
            <option key={version} value={version}>
              Version {version}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}
