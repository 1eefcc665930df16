//! The dataflow of one execution as a state machine without I/O: which nodes can fire, and with which inputs. A live
//! execution and a replay apply the same events in the same order, so both reach the same state.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use graphs::{answer_pins, pins};
use protocol::NodeId;
use protocol::execution::{ExecutionStatus, NodeEvent};
use protocol::graph::{Graph, Node};
use protocol::review::ReviewDecision;
use serde_json::{Map, Value};

use super::plan_node::{InputSet, OutLink, PlanNode};
use crate::graph::BlockCatalog;
use crate::graph::tool_pins;

pub(crate) use super::plan_node::NodeAt;

pub(crate) struct ExecutionPlan {
    nodes: Vec<PlanNode>,
    by_id: HashMap<NodeId, NodeAt>,
    /// One entry for every complete input set, the latest last. Taking the latest first runs depth-first, which keeps
    /// the number of waiting values small.
    ready: Vec<NodeAt>,
    open: BTreeMap<u64, OpenNodeRun>,
    next_run: u64,
    /// Values that wait for the other inputs of their set.
    waiting: usize,
}

/// A node run that has started and not ended.
#[derive(Clone)]
pub(crate) struct OpenNodeRun {
    pub(crate) node: NodeAt,
    inputs: InputSet,
    /// How many outputs have been passed on.
    pub(crate) emitted: u64,
    pub(crate) in_review: bool,
    pub(crate) decision: Option<ReviewDecision>,
}

/// The graph or its journal is inconsistent.
#[derive(Debug, PartialEq, thiserror::Error)]
pub(crate) enum PlanError {
    #[error("block {0} does not exist")]
    NoBlock(String),
    #[error("a link refers to a node that does not exist")]
    NoNode,
    #[error("the journal names a node run that cannot have started")]
    NeverBegan,
}

impl ExecutionPlan {
    pub(crate) fn new(graph: &Graph, catalog: &BlockCatalog) -> Result<Self, PlanError> {
        let mut nodes = Vec::with_capacity(graph.nodes.len());
        for Node { id, block_id, input_default, .. } in &graph.nodes {
            let block =
                catalog.get(block_id).ok_or_else(|| PlanError::NoBlock(block_id.0.clone()))?;
            nodes.push(PlanNode::new(id.clone(), block.clone(), input_default.clone()));
        }
        let by_id: HashMap<NodeId, NodeAt> =
            nodes.iter().enumerate().map(|(at, node)| (node.id.clone(), at)).collect();
        for link in &graph.links {
            let source = *by_id.get(&link.source_id).ok_or(PlanError::NoNode)?;
            let sink = *by_id.get(&link.sink_id).ok_or(PlanError::NoNode)?;
            let is_static = link.is_static || nodes[source].block.spec().static_output;
            let pin = nodes[sink].add_link_to(&link.sink_name, is_static);
            let name = link.source_name.clone();
            // A tool call's value goes to its input unchanged.
            let base = match pins::tool_target(&name) {
                Some(_) => name.clone(),
                None => pins::base(&name).to_owned(),
            };
            nodes[source].links.push(OutLink { name, base, sink, pin });
        }
        for (id, tools) in tool_pins::offered_tools(graph, catalog) {
            nodes[by_id[id]].tools = tools.into();
        }
        for (id, answers) in answer_pins::answer_pins(graph) {
            nodes[by_id[id]].mark_tool_answers(&answers);
        }
        nodes.iter_mut().for_each(PlanNode::find_all_static);
        Ok(Self { nodes, by_id, ready: Vec::new(), open: BTreeMap::new(), next_run: 0, waiting: 0 })
    }

    /// Marks the nodes without incoming links as ready, with the inputs of the execution.
    pub(crate) fn seed(&mut self, inputs: &Map<String, Value>) {
        // The latest entry is taken first, so that the first node of the file starts first.
        for at in (0..self.nodes.len()).rev() {
            if self.nodes[at].seed(inputs) {
                self.ready.push(at);
            }
        }
    }

    pub(crate) fn node(&self, at: NodeAt) -> &PlanNode {
        &self.nodes[at]
    }

    /// The next node to start among those that `may` accepts.
    pub(crate) fn next_ready(&self, may: impl Fn(NodeAt) -> bool) -> Option<NodeAt> {
        self.ready.iter().rev().copied().find(|at| may(*at))
    }

    /// All nodes that could start.
    #[cfg(test)]
    pub(crate) fn ready_nodes(&self) -> Vec<NodeAt> {
        (0..self.nodes.len()).filter(|at| !self.nodes[*at].ready.is_empty()).collect()
    }

    /// The ordinal of the next node run.
    pub(crate) fn next_run(&self) -> u64 {
        self.next_run
    }

    /// Starts the next run of a node and takes its inputs.
    pub(crate) fn start(&mut self, at: NodeAt) -> Option<u64> {
        let run = self.next_run;
        self.start_as(at, run).then_some(run)
    }

    fn start_as(&mut self, at: NodeAt, run: u64) -> bool {
        let Some(inputs) = self.nodes[at].ready.pop_front() else {
            return false;
        };
        if let Some(place) = self.ready.iter().rposition(|ready| *ready == at) {
            self.ready.remove(place);
        }
        let began = OpenNodeRun { node: at, inputs, emitted: 0, in_review: false, decision: None };
        self.open.insert(run, began);
        self.next_run = self.next_run.max(run + 1);
        true
    }

    /// The inputs of the node run on top of the node's defaults, by pin; nested pins are not merged yet.
    pub(crate) fn inputs(&self, run: u64) -> Map<String, Value> {
        let open = self.open.get(&run);
        open.map(|open| self.nodes[open.node].inputs(&open.inputs)).unwrap_or_default()
    }

    /// The inputs that the next run of this node would get.
    pub(crate) fn upcoming(&self, id: &NodeId) -> Map<String, Value> {
        let node = self.by_id.get(id).map(|at| &self.nodes[*at]);
        node.and_then(|node| Some(node.inputs(node.ready.front()?))).unwrap_or_default()
    }

    pub(crate) fn open(&self) -> impl Iterator<Item = (u64, &OpenNodeRun)> {
        self.open.iter().map(|(run, open)| (*run, open))
    }

    pub(crate) fn open_run(&self, run: u64) -> Option<&OpenNodeRun> {
        self.open.get(&run)
    }

    /// How many input sets are complete and not started.
    pub(crate) fn ready(&self) -> usize {
        self.ready.len()
    }

    /// How many values wait for the other inputs of their set.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting
    }

    /// Applies one journal event. The first event that names a node run starts it.
    pub(crate) fn apply(&mut self, event: &NodeEvent) -> Result<(), PlanError> {
        if !self.open.contains_key(&event.run) {
            let at = *self.by_id.get(&event.node).ok_or(PlanError::NoNode)?;
            if !self.start_as(at, event.run) {
                return Err(PlanError::NeverBegan);
            }
        }
        let Some(open) = self.open.get_mut(&event.run) else {
            return Err(PlanError::NeverBegan);
        };
        let at = open.node;
        open.emitted += event.outputs.len() as u64;
        if let Some(decision) = &event.decision {
            open.decision = Some(decision.clone());
        }
        if let Some(status) = event.status {
            open.in_review = status == ExecutionStatus::Review;
            if status.is_final() {
                self.open.remove(&event.run);
            }
        }
        for (pin, value) in &event.outputs {
            self.pass_output(at, pin, value);
        }
        Ok(())
    }

    fn pass_output(&mut self, from: NodeAt, pin: &str, value: &Arc<Value>) {
        // Taken out for the loop, because a link may lead back to the same node.
        let links = std::mem::take(&mut self.nodes[from].links);
        for link in links.iter().filter(|link| link.base == pin) {
            let carried = match link.name == pin {
                true => Some(value.clone()),
                false => pins::pick(&link.name, (pin, value)).map(Arc::new),
            };
            if let Some(carried) = carried {
                let sink = &mut self.nodes[link.sink];
                let completed = sink.deliver(link.pin, carried, &mut self.waiting);
                self.ready.extend(std::iter::repeat_n(link.sink, completed));
            }
        }
        self.nodes[from].links = links;
    }
}
