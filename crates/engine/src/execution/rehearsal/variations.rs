//! Chooses what differs in the next run of a rehearsal: for each linked output that got no value yet, the decision, the
//! failure, the answer or the input on which it depends.

use std::collections::{HashMap, HashSet, VecDeque};

use graphs::samples::{BRANCHES, Boundary, is_error_pin, near_values, sample};
use graphs::{pins, schema};
use protocol::NodeId;
use protocol::block::{BlockKind, BlockSpec};
use protocol::rehearsal::{
    AnsweredBy, NodeChange, NodeVariation, RehearsalVariation, VariationKind,
};
use serde_json::{Map, Value, json};

use super::coverage::Coverage;
use super::flow::{Flow, FlowPin};
use super::node_answers::NodeAnswers;

/// How many outputs are followed back from one that got no value.
const MAX_VISITED: usize = 2_000;
/// How many inputs and answers are varied for one output.
const MAX_SOURCES: usize = 4;
const REJECTED: &str = "rejected_data";

/// The differences between one run and the first one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RunVariation {
    pub(crate) inputs: Map<String, Value>,
    pub(crate) nodes: Vec<NodeVariation>,
    pub(crate) described: Vec<RehearsalVariation>,
}

impl RunVariation {
    /// The failure of one step.
    pub(crate) fn failure(path: Vec<NodeId>, name: &str) -> Self {
        let mut varied = Self::default();
        varied.push(&Change::Node { path, name: name.to_owned(), change: NodeChange::Fail });
        varied
    }

    fn push(&mut self, change: &Change) {
        match change {
            Change::Input { name, value } => {
                self.inputs.insert(name.clone(), value.clone());
                self.described.push(RehearsalVariation {
                    kind: VariationKind::Input,
                    name: name.clone(),
                    pin: None,
                    value: Some(value.clone()),
                });
            }
            Change::Node { path, name, change } => {
                let (kind, pin, value) = match change {
                    NodeChange::Fail => (VariationKind::Failure, None, None),
                    NodeChange::Reject => (VariationKind::Rejection, None, None),
                    NodeChange::Branch { pin } => (VariationKind::Answer, Some(pin.clone()), None),
                    NodeChange::Answer { pin, value } => {
                        (VariationKind::Answer, Some(pin.clone()), Some(value.clone()))
                    }
                };
                self.described.push(RehearsalVariation { kind, name: name.clone(), pin, value });
                self.nodes.push(NodeVariation { path: path.clone(), change: change.clone() });
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Change {
    Input { name: String, value: Value },
    Node { path: Vec<NodeId>, name: String, change: NodeChange },
}

impl Change {
    /// Two changes of the same thing exclude each other.
    fn conflicts(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Input { name: a, .. }, Self::Input { name: b, .. }) => a == b && self != other,
            (Self::Node { path: a, change: x, .. }, Self::Node { path: b, change: y, .. }) => {
                let are_values = |(a, b): (&NodeChange, &NodeChange)| match (a, b) {
                    (NodeChange::Answer { pin: a, .. }, NodeChange::Answer { pin: b, .. }) => {
                        a != b
                    }
                    _ => false,
                };
                a == b && x != y && !are_values((x, y))
            }
            _ => false,
        }
    }
}

/// What the first run was given.
pub(crate) struct FirstRun<'a> {
    pub(crate) answers: &'a NodeAnswers,
    pub(crate) inputs: &'a Map<String, Value>,
    /// The names of the inputs that were made up: they may have any other value.
    pub(crate) made: &'a Map<String, Value>,
    pub(crate) input_schema: &'a Value,
    /// Every step that is answered for is let fail anyway.
    pub(crate) fails_each: bool,
}

pub(crate) struct VariationPlanner<'a> {
    flow: &'a Flow<'a>,
    first: FirstRun<'a>,
    /// The changes that may help each output, and how many of them were tried.
    candidates: HashMap<FlowPin<'a>, (Vec<Vec<Change>>, usize)>,
}

impl<'a> VariationPlanner<'a> {
    pub(crate) fn new(flow: &'a Flow<'a>, first: FirstRun<'a>) -> Self {
        Self { flow, first, candidates: HashMap::new() }
    }

    /// What to try next; `None` if everything is reached or nothing is left to try. One run tries to reach as many outputs
    /// as possible, but none behind another one, because the way to it changes.
    pub(crate) fn next(&mut self, reached: &Coverage) -> Option<RunVariation> {
        let mut chosen: Vec<Change> = Vec::new();
        let mut behind: HashSet<usize> = HashSet::new();
        for target in self.targets(reached) {
            if behind.contains(&target.0) {
                continue;
            }
            if !self.candidates.contains_key(&target) {
                let found = self.find(target);
                self.candidates.insert(target, (found, 0));
            }
            let Some((candidates, tried)) = self.candidates.get_mut(&target) else { continue };
            let Some(changes) = candidates.get(*tried) else { continue };
            let conflicts =
                changes.iter().any(|change| chosen.iter().any(|other| change.conflicts(other)));
            if conflicts {
                continue;
            }
            *tried += 1;
            for change in changes {
                if !chosen.contains(change) {
                    chosen.push(change.clone());
                }
            }
            behind.extend(self.flow.downstream(target.0));
            behind.insert(target.0);
        }
        if chosen.is_empty() {
            return None;
        }
        let mut varied = RunVariation::default();
        chosen.iter().for_each(|change| varied.push(change));
        Some(varied)
    }

    /// The linked outputs without a value, of nodes that ran.
    fn targets(&self, reached: &Coverage) -> Vec<FlowPin<'a>> {
        let mut pins = self.flow.linked_pins();
        pins.retain(|(at, pin)| {
            let node = &self.flow.nodes[*at];
            let has_run = reached.fired.contains(&node.node.id)
                && (reached.succeeded.contains(&node.node.id) || *pin == "error");
            // Which tools a model calls is not made up: it would call them forever.
            has_run && !reached.has_emitted(&node.node.id, pin) && !pins::is_tool(pin)
        });
        pins
    }

    /// The changes that may make a value come out of this output: decisions and failures before values, and the nearest
    /// ones first.
    fn find(&self, target: FlowPin<'a>) -> Vec<Vec<Change>> {
        let mut found: Vec<Vec<Change>> = Vec::new();
        let mut boundary = Boundary::default();
        let mut sources: Vec<FlowPin<'a>> = Vec::new();
        let mut seen: HashSet<FlowPin<'a>> = HashSet::from([target]);
        let mut next: VecDeque<FlowPin<'a>> = VecDeque::from([target]);
        while let Some(place) = next.pop_front() {
            if seen.len() > MAX_VISITED {
                break;
            }
            let node = &self.flow.nodes[place.0];
            match self.role(place) {
                Role::Fixed => {}
                Role::Decides(change) => {
                    let (path, name) = (node.path.clone(), node.name.clone());
                    found.push(vec![Change::Node { path, name, change }]);
                }
                Role::Source => sources.push(place),
                Role::Passes => {
                    if place == target || decides(node.spec) {
                        boundary.add(node.node, node.spec);
                    }
                    let behind = self.flow.behind(place);
                    next.extend(behind.into_iter().filter(|place| seen.insert(*place)));
                }
            }
        }
        sources.truncate(MAX_SOURCES);
        found.extend(self.values(&sources, &boundary));
        found
    }

    fn role(&self, (at, pin): FlowPin<'a>) -> Role {
        let node = &self.flow.nodes[at];
        let answers = self.first.answers;
        let by = match node.is_inside() {
            false => answers.answered_by(node.spec, Some(&node.node.id), &node.node.input_default),
            // Only the outer agent has pinned and recorded outputs.
            true => answers.answered_by(node.spec, None, &node.node.input_default),
        };
        if matches!(by, Some(AnsweredBy::Pinned | AnsweredBy::Recording)) {
            return Role::Fixed;
        }
        if pin == "error" {
            let is_tried_anyway = self.first.fails_each && by.is_some();
            return if is_tried_anyway { Role::Fixed } else { Role::Decides(NodeChange::Fail) };
        }
        let is_branch =
            BRANCHES.contains(&pin) && BRANCHES.iter().all(|pin| node.spec.output(pin).is_some());
        match (node.spec.kind, by) {
            (_, Some(_)) if is_error_pin(pin) || is_branch => {
                Role::Decides(NodeChange::Branch { pin: pin.to_owned() })
            }
            (_, Some(_)) => Role::Source,
            (BlockKind::HumanInTheLoop, None) if pin == REJECTED => {
                Role::Decides(NodeChange::Reject)
            }
            (BlockKind::Input, None) if !node.is_inside() => Role::Source,
            _ => Role::Passes,
        }
    }

    /// Other values for inputs and answers: all at once, then one by one.
    fn values(&self, sources: &[FlowPin<'a>], boundary: &Boundary) -> Vec<Vec<Change>> {
        let options: Vec<Vec<Change>> =
            sources.iter().map(|source| self.options(*source, boundary)).collect();
        let options: Vec<Vec<Change>> =
            options.into_iter().filter(|options| !options.is_empty()).collect();
        if let [only] = options.as_slice() {
            return only.iter().map(|change| vec![change.clone()]).collect();
        }
        let most = options.iter().map(Vec::len).max().unwrap_or(0);
        let mut found: Vec<Vec<Change>> = Vec::new();
        for round in 0..most {
            let all = options.iter().filter_map(|one| one.get(round).or(one.last()).cloned());
            found.push(all.collect());
            if let Some(single) = options.get(round).and_then(|one| one.first()) {
                found.push(vec![single.clone()]);
            }
        }
        found
    }

    fn options(&self, (at, pin): FlowPin<'a>, boundary: &Boundary) -> Vec<Change> {
        let node = &self.flow.nodes[at];
        let FirstRun { answers, inputs, made, input_schema, .. } = &self.first;
        let seed = answers.rehearsal.seed;
        let is_input = node.spec.kind == BlockKind::Input && !node.is_inside();
        if is_input {
            let Some(name) = schema::interface_name(node.node) else { return Vec::new() };
            let of_input = &input_schema["properties"][name];
            let current = inputs.get(name).or_else(|| of_input.get("default"));
            let mut values = near_values(of_input, current, boundary);
            // What the caller gave is not replaced by just anything.
            if made.contains_key(name) {
                values.push(sample(of_input, name, seed.wrapping_add(1)));
            }
            values.retain(|value| {
                Some(value) != current && schema::value_problem(value.clone(), of_input).is_none()
            });
            let change = |value| Change::Input { name: name.to_owned(), value };
            return values.into_iter().map(change).collect();
        }
        let declared = node.spec.output(pin).cloned().unwrap_or_else(|| json!({}));
        let inferred = answers.schemas.pin(&node.node.id, pin).filter(|_| !node.is_inside());
        let of_pin = inferred.cloned().unwrap_or(declared);
        let current = sample(&of_pin, pin, seed);
        let mut values = near_values(&of_pin, Some(&current), boundary);
        values.push(sample(&of_pin, pin, seed.wrapping_add(1)));
        values.retain(|value| *value != current);
        let change = |value| Change::Node {
            path: node.path.clone(),
            name: node.name.clone(),
            change: NodeChange::Answer { pin: pin.to_owned(), value },
        };
        values.into_iter().map(change).collect()
    }
}

/// Whether what the block is set to decides which way a run takes. Other texts, such as templates, are not compared.
fn decides(spec: &BlockSpec) -> bool {
    let pins = spec.outputs.get("properties").and_then(Value::as_object).into_iter().flatten();
    pins.into_iter().any(|(pin, schema)| {
        BRANCHES.contains(&pin.as_str()) || schema.get("type") == Some(&json!("boolean"))
    })
}

/// How an output gets its value.
enum Role {
    /// In a way that the caller has chosen.
    Fixed,
    /// By a decision of the rehearsal.
    Decides(NodeChange),
    /// By an input or an answer, which may have other values.
    Source,
    /// From other outputs.
    Passes,
}
