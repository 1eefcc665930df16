import { ArrowLeft, ArrowRight, X } from 'lucide-react';
import type { ReactNode, Ref } from 'react';
import { ProblemList } from '@/agents/problem-list';
import type { NodeState } from '@/executions/execution-state';
import { NodeOutputs } from '@/executions/node-outputs';
import type { Graph, GraphProblem } from '@/protocol';
import { IconButton } from '@/ui/buttons/button';
import { RunStatus } from '@/ui/feedback/run-status';
import { count } from '@/ui/text/format';
import { blockName, humanName } from '@/ui/text/names';
import { Value } from '@/ui/values/values';
import { type Block, nodeTitle } from './blocks';
import { type DrawnNode, pinLabel } from './drawing';
import type { NodeProblems } from './problems/node-problems';

type Props = {
  ref?: Ref<HTMLElement>;
  drawn: DrawnNode;
  graph: Graph;
  block?: Block;
  state?: NodeState;
  problems?: NodeProblems;
  actionOf?: (problem: GraphProblem) => ReactNode;
  titleOf: (nodeId: string) => string;
  onChoose: (nodeId: string) => void;
  onClose: () => void;
};

/** Details of a node: description, settings, links, and its outputs in a run. */
export function NodePanel({ ref, drawn, graph, block, state, titleOf, onChoose, onClose, ...rest }: Props) {
  const { node } = drawn;
  const title = nodeTitle(node, block);
  const kind = block && blockName(block.name);
  const linked = new Set(drawn.inputs);
  const settings = Object.entries(node.input_default ?? {}).filter(
    ([pin, value]) => !linked.has(pin) && value !== null && value !== '' && !isEmpty(value),
  );
  const links = graph.links ?? [];
  return (
    <section
      ref={ref}
      tabIndex={-1}
      aria-label={`About ${title}`}
      className="absolute inset-x-2 bottom-2 z-10 flex max-h-[60%] flex-col rounded-xl border border-line bg-raised shadow-card sm:inset-x-auto sm:top-2 sm:right-2 sm:bottom-2 sm:max-h-none sm:w-80"
    >
      <header className="flex items-start gap-2 border-b border-line p-3">
        <div className="min-w-0 flex-1">
          <h2 className="font-semibold break-words">{title}</h2>
          {kind && kind !== title && <p className="text-xs text-muted">{kind}</p>}
        </div>
        <IconButton label="Close" onClick={onClose}>
          <X className="size-4" />
        </IconButton>
      </header>
      {/* Focusable for keyboard scrolling. */}
      <div className="flex min-h-0 flex-col gap-4 overflow-y-auto p-3 text-sm" tabIndex={0}>
        <p className="break-words text-muted">
          {block ? block.description : "This block isn't available on this server, so the agent can't run."}
        </p>
        <Problems {...rest} />
        {state && (
          <PanelSection title="In this run">
            <p className="mb-2 flex flex-wrap items-center gap-2">
              <RunStatus status={state.status} />
              <span className="text-xs text-muted">
                {state.runs === 1 ? '1 run' : `${count(state.runs)} runs`}
                {state.failed > 0 && `, ${count(state.failed)} failed`}
              </span>
            </p>
            <NodeOutputs node={state} />
          </PanelSection>
        )}
        {settings.length > 0 && (
          <PanelSection title="Settings">
            <dl className="flex flex-col gap-2">
              {settings.map(([pin, value]) => (
                <div key={pin} className="min-w-0">
                  <dt className="text-xs text-muted">{humanName(pin)}</dt>
                  <dd className="min-w-0 break-words">
                    <Value value={value} />
                  </dd>
                </div>
              ))}
            </dl>
          </PanelSection>
        )}
        <Links
          title="Inputs from"
          icon={<ArrowLeft aria-hidden className="size-3.5 shrink-0" />}
          ends={links
            .filter((link) => link.sink_id === node.id)
            .map((link) => ({ node: link.source_id, here: link.sink_name, there: link.source_name }))}
          titleOf={titleOf}
          onChoose={onChoose}
        />
        <Links
          title="Outputs to"
          icon={<ArrowRight aria-hidden className="size-3.5 shrink-0" />}
          ends={links
            .filter((link) => link.source_id === node.id)
            .map((link) => ({ node: link.sink_id, here: link.source_name, there: link.sink_name }))}
          titleOf={titleOf}
          onChoose={onChoose}
        />
      </div>
    </section>
  );
}

function Problems({ problems, actionOf }: Pick<Props, 'problems' | 'actionOf'>) {
  if (!problems) return null;
  const { errors, warnings } = problems;
  return (
    <PanelSection title="Problems">
      <div className="flex flex-col gap-3">
        {errors.length > 0 && <ProblemList problems={errors} kind="error" actionOf={actionOf} />}
        {warnings.length > 0 && <ProblemList problems={warnings} kind="warning" actionOf={actionOf} />}
      </div>
    </PanelSection>
  );
}

function PanelSection({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <h3 className="mb-1 text-xs font-semibold tracking-wide text-muted uppercase">{title}</h3>
      {children}
    </div>
  );
}

type LinksProps = {
  title: string;
  icon: ReactNode;
  ends: { node: string; here: string; there: string }[];
  titleOf: (nodeId: string) => string;
  onChoose: (nodeId: string) => void;
};

function Links({ title, icon, ends, titleOf, onChoose }: LinksProps) {
  if (ends.length === 0) return null;
  return (
    <PanelSection title={title}>
      <ul className="flex flex-col">
        {ends.map(({ node, here, there }) => (
          <li key={`${node}\0${here}\0${there}`}>
            <button
              type="button"
              onClick={() => onChoose(node)}
              className="flex min-h-9 w-full items-center gap-2 rounded-lg px-1.5 py-1 text-left hover:bg-sunken"
            >
              {icon}
              <span className="min-w-0">
                <span className="block break-words">{titleOf(node)}</span>
                <span className="block text-xs break-words text-muted">
                  {pinLabel(here)} · {pinLabel(there)}
                </span>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </PanelSection>
  );
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
