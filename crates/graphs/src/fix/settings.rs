//! Settings of nodes: braces of templates, secrets without effect, missing and misspelled values.

use protocol::block::BlockSpec;
use protocol::graph::{Graph, Node};
use serde_json::{Map, Value};

use super::{AppliedFix, FixContext};
use crate::braces as wrong_braces;
use crate::pins;
use crate::placeholders::{FILL_TEXT, FILL_TEXT_VALUES, template_pairs};
use crate::problem::ProblemCode;
use crate::schema::value_problem;
use crate::types;
use crate::validate::index::{GraphIndex, IndexedNode};
use crate::validate::node_pins::{self, PinSchema};
use crate::validate::{choice_meant, given_names, misspelled_settings, stored_secrets};

/// Two braces around names that have a value.
pub(crate) fn braces(graph: &mut Graph, context: &FixContext<'_>) -> Vec<AppliedFix> {
    change_nodes(graph, context, |index, placed| {
        let mut changes = Vec::new();
        for (pin, values) in template_pairs(placed.node.block_id.as_str()) {
            let is_linked = index
                .arriving(&placed.node.id)
                .iter()
                .any(|link| pins::base(&link.sink_name) == pin);
            let text = placed.node.input_default.get(pin).and_then(Value::as_str);
            let given = given_names(index, placed, values);
            let repaired = text
                .zip(given)
                .filter(|_| !is_linked)
                .and_then(|(text, given)| wrong_braces::repaired(text, &given));
            if let Some(text) = repaired {
                let problem = index.at_pin(ProblemCode::UnfilledPlaceholder, placed.node, pin, "");
                let message = format!("Wrote the placeholders of `{pin}` with two braces.");
                let change = Change::Set(pin.to_owned(), Value::from(text));
                changes.push(change.with(index, placed.node, problem, message));
            }
        }
        changes
    })
}

/// Secrets that no block reads: credentials are chosen when the agent runs, and settings that a block does not have are
/// ignored. A secret that is used, such as a header, stays: without it, the agent would do something else.
pub(crate) fn secrets(graph: &mut Graph, context: &FixContext<'_>) -> Vec<AppliedFix> {
    change_nodes(graph, context, |index, placed| {
        let Some(spec) = placed.spec else { return Vec::new() };
        let mut pins = stored_secrets(placed.node, placed.spec);
        pins.retain(|pin| is_without_effect(placed.node, spec, pin));
        // A setting that the block does not have is removed as a whole.
        for pin in &mut pins {
            if !placed.node.input_default.contains_key(pin.as_str()) {
                *pin = pins::base(pin).to_owned();
            }
        }
        pins.dedup();
        let change = |pin: String| {
            let problem = index.at_pin(ProblemCode::SecretInDefault, placed.node, &pin, "");
            let message = format!("Removed a secret from the setting `{}`.", pins::base(&pin));
            Change::Remove(pin).with(index, placed.node, problem, message)
        };
        pins.into_iter().map(change).collect()
    })
}

fn is_without_effect(node: &Node, spec: &BlockSpec, pin: &str) -> bool {
    match node_pins::input(node, spec, pins::base(pin)) {
        PinSchema::Missing => true,
        PinSchema::Typed(schema) => BlockSpec::is_credentials(schema),
        PinSchema::Anything => false,
    }
}

/// Values that are missing or misspelled, where only one is possible.
pub(crate) fn values(graph: &mut Graph, context: &FixContext<'_>) -> Vec<AppliedFix> {
    change_nodes(graph, context, |index, placed| {
        let Some(spec) = placed.spec else { return Vec::new() };
        let mut changes = misspelled(index, placed, spec);
        if changes.is_empty() {
            changes.extend(missing_values(index, placed, spec));
            changes.extend(choices(index, placed, spec));
        }
        changes
    })
}

/// A misspelled setting, if the pin that it means is required and has no value.
fn misspelled(
    index: &GraphIndex<'_>,
    placed: IndexedNode<'_>,
    spec: &BlockSpec,
) -> Vec<NodeChange> {
    let mut changes = Vec::new();
    for (wrong, meant) in misspelled_settings(index, placed) {
        if !node_pins::is_required(placed.node, spec, &meant) {
            continue;
        }
        let free = node_pins::input_names(placed.node, spec)
            .into_iter()
            .filter(|pin| !placed.node.input_default.contains_key(*pin));
        if index.only_meant(&wrong, free).as_ref() != Some(&meant) {
            continue;
        }
        let problem = index.at_pin(ProblemCode::UnknownInput, placed.node, &wrong, "");
        let message = format!("Renamed the setting `{wrong}` to `{meant}`.");
        let change = Change::Rename { from: wrong, to: meant };
        changes.push(change.with(index, placed.node, problem, message));
    }
    changes
}

/// A text without values gets an empty set of them.
fn missing_values(
    index: &GraphIndex<'_>,
    placed: IndexedNode<'_>,
    spec: &BlockSpec,
) -> Option<NodeChange> {
    let node = placed.node;
    let is_of_values = |name: &str| pins::base(name) == FILL_TEXT_VALUES;
    let is_linked = index.arriving(&node.id).iter().any(|link| is_of_values(&link.sink_name));
    let is_given = node
        .input_default
        .iter()
        .any(|(name, value)| is_of_values(name) && !value.is_null() && *value != "");
    if spec.id != FILL_TEXT || is_linked || is_given {
        return None;
    }
    let problem = index.at_pin(ProblemCode::MissingInput, node, FILL_TEXT_VALUES, "");
    let change = Change::Set(FILL_TEXT_VALUES.to_owned(), Value::Object(Map::new()));
    let message = format!("Gave `{FILL_TEXT_VALUES}` an empty set of values.");
    Some(change.with(index, node, problem, message))
}

/// A misspelled choice.
fn choices(index: &GraphIndex<'_>, placed: IndexedNode<'_>, spec: &BlockSpec) -> Vec<NodeChange> {
    let node = placed.node;
    let mut changes = Vec::new();
    for (pin, value) in &node.input_default {
        let is_linked =
            index.arriving(&node.id).iter().any(|link| pins::base(&link.sink_name) == pin.as_str());
        let Some(schema) = spec.input(pin).filter(|schema| {
            !is_linked && !types::is_blank(value, schema) && schema.get("enum").is_some()
        }) else {
            continue;
        };
        if value_problem(value.clone(), schema).is_none() {
            continue;
        }
        let Some(meant) = choice_meant(index, value, schema) else { continue };
        let problem = index.at_pin(ProblemCode::WrongInput, node, pin, "");
        let message = format!("Changed `{pin}` to {meant}.");
        changes.push(Change::Set(pin.clone(), meant).with(index, node, problem, message));
    }
    changes
}

enum Change {
    Set(String, Value),
    Remove(String),
    Rename { from: String, to: String },
}

struct NodeChange {
    change: Change,
    fix: AppliedFix,
}

impl Change {
    fn with(
        self,
        index: &GraphIndex<'_>,
        node: &Node,
        problem: protocol::graph::GraphProblem,
        message: String,
    ) -> NodeChange {
        let mut fix = AppliedFix::of(problem, message);
        fix.edit = match &self {
            Self::Set(pin, value) => index.set(node, pin, Some(value.clone())),
            Self::Remove(pin) => index.set(node, pin, None),
            Self::Rename { .. } => None,
        };
        NodeChange { change: self, fix }
    }

    fn apply(self, settings: &mut Map<String, Value>) {
        match self {
            Self::Set(pin, value) => {
                settings.insert(pin, value);
            }
            Self::Rename { from, to } => {
                if let Some(value) = settings.shift_remove(&from) {
                    settings.insert(to, value);
                }
            }
            Self::Remove(pin) => {
                settings.shift_remove(&pin);
            }
        }
    }
}

fn change_nodes(
    graph: &mut Graph,
    context: &FixContext<'_>,
    find: impl Fn(&GraphIndex<'_>, IndexedNode<'_>) -> Vec<NodeChange>,
) -> Vec<AppliedFix> {
    let index = GraphIndex::read(graph, context.blocks);
    let positions: Vec<Vec<NodeChange>> = graph
        .nodes
        .iter()
        .map(|node| match index.nodes.get(&node.id) {
            // Of nodes with one id, only one is indexed.
            Some(placed) if std::ptr::eq(placed.node, node) => find(&index, *placed),
            _ => Vec::new(),
        })
        .collect();
    let mut fixes = Vec::new();
    for (node, changes) in graph.nodes.iter_mut().zip(positions) {
        for NodeChange { change, fix } in changes {
            change.apply(&mut node.input_default);
            fixes.push(fix);
        }
    }
    fixes
}
