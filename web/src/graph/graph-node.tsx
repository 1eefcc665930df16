// A node of the graph: its title, its linked pins, and its status in a run.

import { Handle, type Node, type NodeProps, Position } from '@xyflow/react';
import {
  ArrowRightFromLine,
  ArrowRightToLine,
  Bot,
  Box,
  CircleAlert,
  Sparkles,
  StickyNote,
  TriangleAlert,
  UserCheck,
} from 'lucide-react';
import { memo, useContext } from 'react';
import type { NodeState } from '@/executions/execution-state';
import type { ExecutionStatus } from '@/protocol';
import { classes } from '@/ui/classes';
import { Spinner } from '@/ui/feedback/spinner';
import { amount, count } from '@/ui/text/format';
import { blockName } from '@/ui/text/names';
import { type Block, nodeTitle } from './blocks';
import { type DrawnNode, HEAD_HEIGHT, PIN_HEIGHT, pinLabel } from './drawing';
import { GraphContext } from './graph-context';
import type { NodeProblems } from './problems/node-problems';

/** `titleId` is the id of the title element, which labels the node for screen readers. */
export type NodeData = DrawnNode & { titleId: string };
export type FlowNode = Node<NodeData, 'block'>;

const ICONS: Record<string, typeof Box> = {
  Input: ArrowRightToLine,
  Output: ArrowRightFromLine,
  Agent: Bot,
  AI: Sparkles,
  'Human In The Loop': UserCheck,
  Note: StickyNote,
};

const BORDERS: Record<ExecutionStatus, string> = {
  INCOMPLETE: 'border-line',
  QUEUED: 'border-line-strong',
  RUNNING: 'border-accent',
  REVIEW: 'border-warn',
  COMPLETED: 'border-good',
  FAILED: 'border-bad',
  TERMINATED: 'border-line-strong',
};

export function GraphNode({ data, selected }: NodeProps<FlowNode>) {
  const { blocks, states, hasEnded, problems } = useContext(GraphContext);
  return (
    <NodeBox
      data={data}
      selected={selected}
      block={blocks.get(data.node.block_id)}
      state={states.get(data.node.id)}
      hasEnded={hasEnded}
      problems={problems.byNode.get(data.node.id)}
    />
  );
}

type NodeBoxProps = {
  data: NodeData;
  selected: boolean;
  block?: Block;
  state?: NodeState;
  hasEnded: boolean;
  problems?: NodeProblems;
};

/** Memoized: renders again only when this node changes. */
const NodeBox = memo(function NodeBox({ data, selected, block, state, hasEnded, problems }: NodeBoxProps) {
  const title = nodeTitle(data.node, block);
  const kind = block ? blockName(block.name) : 'Unknown block';
  const Icon = ICONS[block?.uiType ?? ''] ?? Box;
  const isNotReached = hasEnded && !state && block?.uiType !== 'Note';
  return (
    <div
      style={{ width: data.box.width, height: data.box.height }}
      className={classes(
        'rounded-xl border-2 bg-surface text-left shadow-card',
        borderOf(state, isNotReached, problems),
        selected && 'ring-2 ring-accent ring-offset-2 ring-offset-canvas',
      )}
    >
      <div style={{ height: HEAD_HEIGHT - 4 }} className="flex items-center gap-2 px-3">
        <Icon aria-hidden className="size-4 shrink-0 text-muted" />
        <div className="min-w-0 flex-1">
          <p id={data.titleId} className="truncate text-sm font-medium">
            {title}
          </p>
          {isNotReached ? (
            <p className="truncate text-xs text-muted">Not reached</p>
          ) : (
            kind !== title && <p className="truncate text-xs text-muted">{kind}</p>
          )}
        </div>
        {problems && <ProblemBadge problems={problems} />}
        {state && <StatusBadge state={state} />}
      </div>
      <Pins pins={data.inputs} side="input" />
      <Pins pins={data.outputs} side="output" />
    </div>
  );
});

function borderOf(state: NodeState | undefined, isNotReached: boolean, problems?: NodeProblems): string {
  if (state) return BORDERS[shownStatus(state)];
  if (isNotReached) return 'border-dashed border-line-strong';
  if (!problems) return 'border-line';
  return problems.errors.length > 0 ? 'border-bad' : 'border-warn';
}

function ProblemBadge({ problems: { errors, warnings } }: { problems: NodeProblems }) {
  const isError = errors.length > 0;
  const Icon = isError ? CircleAlert : TriangleAlert;
  const label = [
    errors.length > 0 && amount(errors.length, 'error'),
    warnings.length > 0 && amount(warnings.length, 'warning'),
  ]
    .filter(Boolean)
    .join(', ');
  return (
    <span
      role="img"
      aria-label={label}
      title={label}
      className={classes(
        'flex h-6 shrink-0 items-center gap-1 rounded-full px-1.5 text-xs font-medium tabular-nums',
        isError ? BADGES.FAILED : BADGES.REVIEW,
      )}
    >
      <Icon aria-hidden className="size-3.5" />
      {count(errors.length + warnings.length)}
    </span>
  );
}

/** Unfinished executions come first, then failures: later successes do not hide a failure. */
function shownStatus(state: NodeState): ExecutionStatus {
  if (state.running > 0)
    return state.status === 'REVIEW' || state.status === 'QUEUED' ? state.status : 'RUNNING';
  return state.failed > 0 ? 'FAILED' : state.status;
}

const BADGES: Partial<Record<ExecutionStatus, string>> = {
  COMPLETED: 'bg-good-soft text-good',
  FAILED: 'bg-bad-soft text-bad',
  REVIEW: 'bg-warn-soft text-warn',
  RUNNING: 'bg-accent-soft text-accent',
};

function StatusBadge({ state }: { state: NodeState }) {
  const status = shownStatus(state);
  const label = `${state.runs === 1 ? '1 run' : `${count(state.runs)} runs`}${state.failed > 0 ? `, ${count(state.failed)} failed` : ''}`;
  return (
    <span
      role="img"
      aria-label={label}
      title={label}
      className={classes(
        'flex h-6 min-w-6 shrink-0 items-center justify-center gap-1 rounded-full px-1.5 text-xs font-medium tabular-nums',
        BADGES[status] ?? 'bg-sunken text-muted',
      )}
    >
      {status === 'RUNNING' && <Spinner className="size-3" />}
      {status === 'FAILED' && state.failed < state.runs
        ? `${count(state.failed)}/${count(state.runs)}`
        : count(state.runs)}
    </span>
  );
}

function Pins({ pins, side }: { pins: string[]; side: 'input' | 'output' }) {
  const isInput = side === 'input';
  return pins.map((pin, row) => {
    const top = HEAD_HEIGHT + (row + 0.5) * PIN_HEIGHT - 4;
    return (
      <div key={pin}>
        <Handle
          type={isInput ? 'target' : 'source'}
          id={pin}
          position={isInput ? Position.Left : Position.Right}
          isConnectable={false}
          style={{ top }}
        />
        <span
          style={{ top: top - PIN_HEIGHT / 2, height: PIN_HEIGHT, lineHeight: `${PIN_HEIGHT}px` }}
          className={classes(
            'absolute max-w-[48%] truncate text-xs text-muted',
            isInput ? 'left-3' : 'right-3 text-right',
          )}
        >
          {pinLabel(pin)}
        </span>
      </div>
    );
  });
}
