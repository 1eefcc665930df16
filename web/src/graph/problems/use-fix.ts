import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { AgentDiff, GraphProblem } from '@/protocol';
import { showToast } from '@/ui/feedback/toast';
import { type StaleVersion, staleVersionOf } from '../versions/stale-version';
import { useShowSaved } from '../versions/use-show-saved';
import { versionsQuery } from '../versions/version-requests';
import { applyEdit } from './check-requests';

/** What came of the last fix. */
export type FixOutcome =
  | { kind: 'fixed'; version: number; diff: AgentDiff }
  | { kind: 'stale'; stale: StaleVersion }
  | { kind: 'failed'; error: unknown };

export type Fix = {
  /** Whether the user may save a version on top of the shown one. */
  canFix: boolean;
  /** The problem that is being fixed. */
  fixing: GraphProblem | null;
  outcome: FixOutcome | null;
  fix: (problem: GraphProblem) => Promise<void>;
};

type Options = {
  graphId: string;
  /** The version that is shown. */
  version: number;
  /** The version can't run yet: what still has errors after a fix is saved as a draft. */
  isDraft: boolean;
};

/** Applies the edit of a problem as a new version, and shows that version. */
export function useFix({ graphId, version, isDraft }: Options): Fix {
  const { data: versions } = useQuery(versionsQuery(graphId));
  const showSaved = useShowSaved();
  const [fixing, setFixing] = useState<GraphProblem | null>(null);
  const [outcome, setOutcome] = useState<FixOutcome | null>(null);

  async function fix(problem: GraphProblem) {
    if (!problem.edit || fixing) return;
    setFixing(problem);
    setOutcome(null);
    try {
      const { graph, diff } = await applyEdit({ graphId, base: version, edit: problem.edit, draft: isDraft });
      const saved = graph.version ?? version + 1;
      setOutcome({ kind: 'fixed', version: saved, diff });
      showSaved(graph, 'graph');
      showToast(`Fixed. Saved as version ${saved}.`, 'good');
    } catch (error) {
      const stale = staleVersionOf(error);
      setOutcome(stale ? { kind: 'stale', stale } : { kind: 'failed', error });
    } finally {
      setFixing(null);
    }
  }

  return { canFix: versions?.[0]?.version === version, fixing, outcome, fix };
}
