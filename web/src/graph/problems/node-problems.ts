// The problems that a check has found, by the node and the link they are at.

import type { GraphProblem, ValidationBody } from '@/protocol';

export type NodeProblems = { errors: GraphProblem[]; warnings: GraphProblem[] };

export type GraphProblems = {
  byNode: ReadonlyMap<string, NodeProblems>;
  /** Ids of the links with errors. */
  links: ReadonlySet<string>;
};

export const NO_PROBLEMS: GraphProblems = { byNode: new Map(), links: new Set() };

export function problemsOfCheck({
  errors,
  warnings,
}: Pick<ValidationBody, 'errors' | 'warnings'>): GraphProblems {
  const byNode = new Map<string, NodeProblems>();
  const add = (kind: keyof NodeProblems, problem: GraphProblem) => {
    if (!problem.node_id) return;
    const known = byNode.get(problem.node_id) ?? { errors: [], warnings: [] };
    byNode.set(problem.node_id, { ...known, [kind]: [...known[kind], problem] });
  };
  for (const problem of errors) add('errors', problem);
  for (const problem of warnings) add('warnings', problem);
  return { byNode, links: new Set(errors.flatMap(({ link_id }) => link_id ?? [])) };
}

/** Problems of the whole agent first: no node shows them. */
export function wholeAgentFirst(problems: readonly GraphProblem[]): GraphProblem[] {
  return [
    ...problems.filter(({ node_id, step }) => !node_id && !step),
    ...problems.filter(({ node_id, step }) => node_id || step),
  ];
}
