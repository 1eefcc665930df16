import {
  Background,
  Controls,
  MiniMap,
  ReactFlow,
  type ReactFlowInstance,
  ReactFlowProvider,
  useReactFlow,
  useStoreApi,
} from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import './graph.css';
import { type ReactNode, useEffect, useId, useMemo, useState } from 'react';
import type { NodeState } from '@/executions/execution-state';
import type { Graph, GraphProblem } from '@/protocol';
import { classes } from '@/ui/classes';
import { nodeTitle, useBlocks } from './blocks';
import { type Drawing, drawingOf } from './drawing';
import { GraphContext } from './graph-context';
import { type FlowEdge, GraphLink } from './graph-link';
import { type FlowNode, GraphNode } from './graph-node';
import { NodePanel } from './node-panel';
import { type GraphProblems, NO_PROBLEMS } from './problems/node-problems';
import { useArrowKeys } from './use-arrow-keys';
import { usePanelFocus } from './use-panel-focus';

export type GraphViewProps = {
  graph: Graph;
  /** State of its nodes in a run. */
  nodes?: ReadonlyMap<string, NodeState>;
  /** The run has ended: nodes without a state were not reached. */
  hasEnded?: boolean;
  /** Shown at the nodes and links that they are about. */
  problems?: GraphProblems;
  /** A button for a problem in the panel of its node. */
  actionOf?: (problem: GraphProblem) => ReactNode;
  /** A node to select; a new object selects it again. */
  select?: { nodeId: string } | null;
  /** Sets the height. */
  className?: string;
  /** The graph fills the page: the mouse wheel zooms, and there is a minimap. */
  fullPage?: boolean;
};

const NODE_TYPES = { block: GraphNode };
const EDGE_TYPES = { link: GraphLink };
const NO_STATES: ReadonlyMap<string, NodeState> = new Map();
const READABLE_ZOOM = 0.3;
const FIRST_NODES = 12;
/** Above this number only visible nodes are rendered. */
const MANY_NODES = 80;
const ARIA_LABELS = {
  'node.a11yDescription.default': 'Press Enter to view details.',
  'controls.zoomIn.ariaLabel': 'Zoom in',
  'controls.zoomOut.ariaLabel': 'Zoom out',
  'controls.fitView.ariaLabel': 'Fit view',
  'controls.ariaLabel': 'Graph controls',
  'minimap.ariaLabel': 'Minimap',
};

/** Interactive view of a graph. It pans with mouse, touch or arrow keys; selecting a node opens its panel. */
export function GraphView(props: GraphViewProps) {
  return (
    <ReactFlowProvider>
      {/* Another graph or version is mounted as a new view. */}
      <GraphCanvas key={`${props.graph.id}/${props.graph.version}`} {...props} />
    </ReactFlowProvider>
  );
}

function GraphCanvas({
  graph,
  nodes: states = NO_STATES,
  hasEnded = false,
  problems = NO_PROBLEMS,
  actionOf,
  select,
  className,
  fullPage = false,
}: GraphViewProps) {
  const blocks = useBlocks();
  const drawing = useMemo(() => drawingOf(graph), [graph]);
  const titleIds = useId();
  const flowNodes = useMemo(() => flowNodesOf(drawing, titleIds), [drawing, titleIds]);
  const edges = useMemo(() => edgesOf(drawing), [drawing]);
  const context = useMemo(
    () => ({ blocks, states, hasEnded, problems }),
    [blocks, states, hasEnded, problems],
  );
  const [chosen, setChosen] = useState<string | null>(null);
  const store = useStoreApi();
  const flow = useReactFlow();
  const pan = useArrowKeys();
  const focus = usePanelFocus(chosen, () => store.getState().unselectNodesAndEdges());

  function choose(id: string) {
    store.getState().addSelectedNodes([id]);
    void flow.fitView({ nodes: [{ id }], maxZoom: 1, duration: 300 });
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new request selects a node.
  useEffect(() => {
    if (!select || !drawing.nodes.some(({ node }) => node.id === select.nodeId)) return;
    focus.moveFocus();
    choose(select.nodeId);
  }, [select]);

  const drawn = drawing.nodes.find((one) => one.node.id === chosen);
  return (
    <GraphContext value={context}>
      <section
        ref={focus.view}
        {...focus.handlers}
        // A landmark needs a name of its own on the page, and a chat may show the same agent twice.
        role={fullPage ? 'region' : 'group'}
        aria-label={`Graph of ${graph.name || 'the agent'}`}
        className={classes(
          'relative overflow-hidden border-line bg-canvas',
          !fullPage && 'rounded-xl border',
          className,
        )}
      >
        <ReactFlow
          defaultNodes={flowNodes}
          defaultEdges={edges}
          nodeTypes={NODE_TYPES}
          edgeTypes={EDGE_TYPES}
          ariaLabelConfig={ARIA_LABELS}
          aria-label="Graph; use arrow keys to pan"
          tabIndex={0}
          onKeyDown={pan}
          fitView
          fitViewOptions={{ maxZoom: 1, padding: 0.12 }}
          minZoom={0.05}
          maxZoom={2}
          nodesDraggable={false}
          nodesConnectable={false}
          edgesFocusable={false}
          edgesReconnectable={false}
          deleteKeyCode={null}
          selectionKeyCode={null}
          multiSelectionKeyCode={null}
          onlyRenderVisibleElements={flowNodes.length > MANY_NODES}
          // Unless the graph fills the page, the wheel scrolls the page.
          zoomOnScroll={fullPage}
          preventScrolling={fullPage}
          onInit={zoomToStart}
          onSelectionChange={({ nodes: selected }) => setChosen(selected[0]?.id ?? null)}
        >
          <Background gap={24} />
          <Controls showInteractive={false} position="bottom-left" />
          {fullPage && flowNodes.length > 12 && (
            <MiniMap pannable zoomable className="hidden! md:block!" position="bottom-right" />
          )}
        </ReactFlow>
        {drawn && (
          <NodePanel
            ref={focus.panel}
            drawn={drawn}
            graph={graph}
            block={blocks.get(drawn.node.block_id)}
            state={states.get(drawn.node.id)}
            problems={problems.byNode.get(drawn.node.id)}
            actionOf={actionOf}
            titleOf={(id) => {
              const node = drawing.nodes.find((one) => one.node.id === id)?.node;
              return node ? nodeTitle(node, blocks.get(node.block_id)) : 'Missing block';
            }}
            onChoose={choose}
            onClose={focus.close}
          />
        )}
      </section>
    </GraphContext>
  );
}

/** Zooms to the first nodes of a graph that is too wide to be readable as a whole. */
function zoomToStart(flow: ReactFlowInstance<FlowNode, FlowEdge>): void {
  if (flow.getZoom() >= READABLE_ZOOM) return;
  const first = flow
    .getNodes()
    .toSorted((a, b) => a.position.x - b.position.x)
    .slice(0, FIRST_NODES);
  void flow.fitView({ nodes: first, maxZoom: 0.8, minZoom: READABLE_ZOOM });
}

function flowNodesOf(drawing: Drawing, titleIds: string): FlowNode[] {
  return drawing.nodes.map((drawn, index) => ({
    id: drawn.node.id,
    type: 'block' as const,
    position: drawn.position,
    data: { ...drawn, titleId: `${titleIds}${index}` },
    // Known in advance, so that the view fits from the first frame.
    width: drawn.box.width,
    height: drawn.box.height,
    // Labeled by its title element, which is updated when the blocks load.
    domAttributes: { 'aria-labelledby': `${titleIds}${index}` },
  }));
}

function edgesOf(drawing: Drawing): FlowEdge[] {
  return drawing.links.map((link) => ({
    id: link.key,
    type: 'link' as const,
    data: { bends: link.bends, linkId: link.id ?? null },
    source: link.source_id,
    target: link.sink_id,
    sourceHandle: link.source_name,
    targetHandle: link.sink_name,
    selectable: false,
    className: link.is_static ? 'graph-link-static' : undefined,
  }));
}
