//! The dataflow of one execution as a state machine without I/O: which nodes can fire, and with which inputs. A live
//! execution and a replay apply the same events in the same order, so both reach the same state.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use ports::Block;
use ports::block::ToolPin;
use protocol::NodeId;
use protocol::block::BlockKind;
use protocol::execution::{ExecutionStatus, NodeEvent};
use protocol::graph::{Graph, Node};
use protocol::review::ReviewDecision;
use serde_json::{Map, Value};

use crate::graph::BlockCatalog;
use crate::graph::tool_pins;
use graphs::{answer_pins, pins};

/// Index of a node within its plan.
pub(crate) type NodeAt = usize;

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

pub(crate) struct PlanNode {
    pub(crate) id: NodeId,
    pub(crate) block: Arc<dyn Block>,
    defaults: Map<String, Value>,
    links: Vec<OutLink>,
    pins: Vec<InputPin>,
    /// Tools that the nodes linked from this one offer to it.
    pub(crate) tools: Arc<[ToolPin]>,
    /// All linked inputs are static: then every new value fires the node again.
    all_static: bool,
    /// Whether the first input set of the node was complete.
    has_run: bool,
    ready: VecDeque<InputSet>,
}

struct OutLink {
    /// The output name of the link, and the pin at the start of that name.
    name: String,
    base: String,
    sink: NodeAt,
    pin: usize,
}

/// An input that links lead to.
struct InputPin {
    name: String,
    is_static: bool,
    /// Only the node's own tools lead to this pin, so the first run does not wait for it.
    is_tool_answer: bool,
    queue: VecDeque<Arc<Value>>,
    kept: Option<Arc<Value>>,
}

/// A complete set of inputs.
#[derive(Clone, Default)]
pub(crate) struct InputSet {
    given: Map<String, Value>,
    /// By pin; `None` where the first run did not wait for a value.
    linked: Vec<Option<Arc<Value>>>,
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
            nodes.push(PlanNode {
                id: id.clone(),
                block: block.clone(),
                defaults: input_default.clone(),
                links: Vec::new(),
                pins: Vec::new(),
                tools: [].into(),
                all_static: true,
                has_run: false,
                ready: VecDeque::new(),
            });
        }
        let by_id: HashMap<NodeId, NodeAt> =
            nodes.iter().enumerate().map(|(at, node)| (node.id.clone(), at)).collect();
        for link in &graph.links {
            let source = *by_id.get(&link.source_id).ok_or(PlanError::NoNode)?;
            let sink = *by_id.get(&link.sink_id).ok_or(PlanError::NoNode)?;
            let is_static = link.is_static || nodes[source].block.spec().static_output;
            let pin = nodes[sink].pin(&link.sink_name, is_static);
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
            let pins = nodes[by_id[id]].pins.iter_mut();
            pins.for_each(|pin| pin.is_tool_answer = answers.contains(pin.name.as_str()));
        }
        for node in &mut nodes {
            node.all_static = node.pins.iter().all(|pin| pin.is_static);
        }
        Ok(Self { nodes, by_id, ready: Vec::new(), open: BTreeMap::new(), next_run: 0, waiting: 0 })
    }

    /// Marks the nodes without incoming links as ready, with the inputs of the execution.
    pub(crate) fn seed(&mut self, inputs: &Map<String, Value>) {
        // The latest entry is taken first, so that the first node of the file starts first.
        for at in (0..self.nodes.len()).rev() {
            if let Some(given) = self.nodes[at].seed_inputs(inputs) {
                self.nodes[at].has_run = true;
                self.nodes[at].ready.push_back(InputSet { given, linked: Vec::new() });
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
                self.deliver(link.sink, link.pin, carried);
            }
        }
        self.nodes[from].links = links;
    }

    fn deliver(&mut self, sink: NodeAt, pin: usize, value: Arc<Value>) {
        let node = &mut self.nodes[sink];
        let at = &mut node.pins[pin];
        if at.is_static && !node.all_static {
            at.kept = Some(value);
        } else {
            at.queue.push_back(value);
            self.waiting += 1;
        }
        while let Some(inputs) = node.complete_set(&mut self.waiting) {
            node.ready.push_back(inputs);
            self.ready.push(sink);
        }
    }
}

impl PlanNode {
    fn pin(&mut self, name: &str, is_static: bool) -> usize {
        if let Some(at) = self.pins.iter().position(|pin| pin.name == name) {
            // One non-static link makes the pin non-static: its values must not be lost.
            self.pins[at].is_static &= is_static;
            return at;
        }
        let (name, queue) = (name.to_owned(), VecDeque::new());
        self.pins.push(InputPin { name, is_static, is_tool_answer: false, queue, kept: None });
        self.pins.len() - 1
    }

    fn inputs(&self, set: &InputSet) -> Map<String, Value> {
        let mut inputs = self.defaults.clone();
        inputs.extend(set.given.clone());
        for (pin, value) in self.pins.iter().zip(&set.linked) {
            inputs.extend(value.as_ref().map(|value| (pin.name.clone(), Value::clone(value))));
        }
        inputs
    }

    /// The inputs with which a node without incoming links starts; `None` if it does not start by itself.
    fn seed_inputs(&self, inputs: &Map<String, Value>) -> Option<Map<String, Value>> {
        if !self.pins.iter().all(|pin| pin.is_tool_answer) {
            return None;
        }
        let given = |pin: &str, value: &Value| Map::from_iter([(pin.to_owned(), value.clone())]);
        match self.block.spec().kind {
            BlockKind::Note => None,
            BlockKind::Input => {
                let name = self.defaults.get("name").and_then(Value::as_str).unwrap_or_default();
                Some(inputs.get(name).map(|value| given("value", value)).unwrap_or_default())
            }
            // A trigger starts with the payload that triggered it.
            BlockKind::Webhook | BlockKind::WebhookManual => {
                inputs.get("payload").map(|payload| given("payload", payload))
            }
            _ => Some(Map::new()),
        }
    }

    /// Takes out one complete input set, if there is one: the oldest value of every pin, or its static value.
    fn complete_set(&mut self, waiting: &mut usize) -> Option<InputSet> {
        let has = |pin: &InputPin| !pin.queue.is_empty() || pin.kept.is_some();
        let has_run = self.has_run;
        let mut awaited = self.pins.iter().filter(|pin| has_run || !pin.is_tool_answer);
        let fires = match self.all_static {
            true => awaited.clone().any(|pin| !pin.queue.is_empty()),
            false => awaited.clone().all(|pin| pin.is_static || !pin.queue.is_empty()),
        };
        if !fires || !awaited.all(has) {
            return None;
        }
        self.has_run = true;
        let take = |pin: &mut InputPin| {
            let value = match pin.queue.pop_front() {
                Some(value) => {
                    *waiting -= 1;
                    value
                }
                None => pin.kept.clone()?,
            };
            if pin.is_static {
                pin.kept = Some(value.clone());
            }
            Some(value)
        };
        let linked = self.pins.iter_mut().map(take).collect();
        Some(InputSet { given: Map::new(), linked })
    }
}
