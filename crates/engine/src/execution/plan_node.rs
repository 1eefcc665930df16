//! A node of an execution plan: collects the values that arrive at its pins into complete sets of inputs.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use ports::Block;
use ports::block::ToolPin;
use protocol::NodeId;
use protocol::block::BlockKind;
use serde_json::{Map, Value};

/// Index of a node within its plan.
pub(crate) type NodeAt = usize;

/// A node of a graph, with its queued and complete inputs.
pub(crate) struct PlanNode {
    pub(crate) id: NodeId,
    pub(crate) block: Arc<dyn Block>,
    defaults: Map<String, Value>,
    pub(crate) links: Vec<OutLink>,
    pins: Vec<InputPin>,
    /// Tools that the nodes linked from this one offer to it.
    pub(crate) tools: Arc<[ToolPin]>,
    /// All linked inputs are static: then every new value fires the node again.
    all_static: bool,
    /// Whether the first input set of the node was complete.
    has_run: bool,
    /// Complete input sets, the oldest first.
    pub(crate) ready: VecDeque<InputSet>,
}

/// A link that leads away from a node.
pub(crate) struct OutLink {
    /// The output name of the link, and the pin at the start of that name.
    pub(crate) name: String,
    pub(crate) base: String,
    pub(crate) sink: NodeAt,
    pub(crate) pin: usize,
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

impl PlanNode {
    pub(crate) fn new(id: NodeId, block: Arc<dyn Block>, defaults: Map<String, Value>) -> Self {
        Self {
            id,
            block,
            defaults,
            links: Vec::new(),
            pins: Vec::new(),
            tools: [].into(),
            all_static: true,
            has_run: false,
            ready: VecDeque::new(),
        }
    }

    /// Adds a link that leads to the pin, and returns the index of the pin.
    pub(crate) fn add_link_to(&mut self, name: &str, is_static: bool) -> usize {
        if let Some(at) = self.pins.iter().position(|pin| pin.name == name) {
            // One non-static link makes the pin non-static: its values must not be lost.
            self.pins[at].is_static &= is_static;
            return at;
        }
        let (name, queue) = (name.to_owned(), VecDeque::new());
        self.pins.push(InputPin { name, is_static, is_tool_answer: false, queue, kept: None });
        self.pins.len() - 1
    }

    /// After all links are added.
    pub(crate) fn mark_tool_answers(&mut self, answers: &HashSet<&str>) {
        for pin in &mut self.pins {
            pin.is_tool_answer = answers.contains(pin.name.as_str());
        }
    }

    /// After all links are added.
    pub(crate) fn find_all_static(&mut self) {
        self.all_static = self.pins.iter().all(|pin| pin.is_static);
    }

    /// Completes the first input set of a node that starts by itself. Returns whether it does.
    pub(crate) fn seed(&mut self, inputs: &Map<String, Value>) -> bool {
        let Some(given) = self.seed_inputs(inputs) else { return false };
        self.has_run = true;
        self.ready.push_back(InputSet { given, linked: Vec::new() });
        true
    }

    /// Takes a value that arrives at a pin, and returns how many input sets it completes. `waiting` counts the values that
    /// wait for the other inputs of their set.
    pub(crate) fn deliver(&mut self, pin: usize, value: Arc<Value>, waiting: &mut usize) -> usize {
        let at = &mut self.pins[pin];
        if at.is_static && !self.all_static {
            at.kept = Some(value);
        } else {
            at.queue.push_back(value);
            *waiting += 1;
        }
        let before = self.ready.len();
        while let Some(inputs) = self.complete_set(waiting) {
            self.ready.push_back(inputs);
        }
        self.ready.len() - before
    }

    pub(crate) fn inputs(&self, set: &InputSet) -> Map<String, Value> {
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
