//! Reports steps that never run, steps and inputs whose results are not used, and outputs that stay empty.

use std::collections::HashSet;

use protocol::NodeId;
use protocol::block::{BlockKind, BlockSpec};
use protocol::graph::GraphProblem;
use protocol::tool::ToolEffect;
use serde_json::Value;

use super::cycles;
use super::index::{GraphIndex, IndexedNode};
use crate::problem::{ProblemCode, ProblemDetails};

pub(crate) fn check(index: &GraphIndex<'_>) -> Vec<GraphProblem> {
    let silent = cycles::silent(index);
    // Nodes of a dead cycle are reported as such.
    let dead = match silent.is_empty() {
        true => HashSet::new(),
        false => cycles::circular(index, silent.clone()),
    };
    index.in_order().filter_map(|placed| of_node(index, placed, &silent, &dead)).collect()
}

fn of_node(
    index: &GraphIndex<'_>,
    placed: IndexedNode<'_>,
    silent: &HashSet<&NodeId>,
    dead: &HashSet<&NodeId>,
) -> Option<GraphProblem> {
    let node = placed.node;
    let spec = placed.spec?;
    let never_runs = silent.contains(&node.id) || waits_for_notes(index, placed);
    if spec.kind == BlockKind::Output {
        return unfilled(index, placed, never_runs);
    }
    if never_runs {
        let message =
            format!("{placed} never runs: one of its inputs comes from a step that never runs.");
        return (!dead.contains(&node.id))
            .then(|| index.at_node(ProblemCode::Unreachable, node, message));
    }
    let is_used = index
        .leaving(&node.id)
        .iter()
        .any(|link| link.sink_id != node.id && index.nodes.contains_key(&link.sink_id));
    match spec.kind {
        _ if is_used || has_effect(spec) => None,
        BlockKind::Input => {
            let message = format!("Nothing uses the input {placed}.");
            Some(index.at_node(ProblemCode::UnusedInput, node, message))
        }
        _ => {
            let message = format!("Nothing uses what {placed} emits, and it has no other effect.");
            Some(index.at_node(ProblemCode::UnusedStep, node, message))
        }
    }
}

fn unfilled(
    index: &GraphIndex<'_>,
    placed: IndexedNode<'_>,
    never_runs: bool,
) -> Option<GraphProblem> {
    let node = placed.node;
    let own = node.input_default.get("value").is_some_and(|value| !value.is_null());
    let linked = index.arriving(&node.id).iter().any(|link| {
        crate::pins::base(&link.sink_name) == "value" && index.nodes.contains_key(&link.source_id)
    });
    let name = node.input_default.get("name").and_then(Value::as_str).unwrap_or_default();
    let message = match (linked, own) {
        (true, _) if never_runs => {
            format!("The output “{name}” stays empty: the step that fills it never runs.")
        }
        (true, _) | (_, true) => return None,
        _ => format!("Nothing fills the output “{name}”: link a result to it."),
    };
    let problem = index.at_node(ProblemCode::UnfilledOutput, node, message);
    Some(problem.expected("a link to `value`"))
}

/// Whether an input only comes from notes, which never run.
fn waits_for_notes(index: &GraphIndex<'_>, placed: IndexedNode<'_>) -> bool {
    let is_note = |id: &NodeId| {
        let spec = index.nodes.get(id).and_then(|source| source.spec);
        spec.is_some_and(|spec| spec.kind == BlockKind::Note)
    };
    index.arriving(&placed.node.id).iter().any(|link| is_note(&link.source_id))
}

/// Whether running the block matters even if its outputs are not used.
fn has_effect(spec: &BlockSpec) -> bool {
    let is_plain = matches!(spec.kind, BlockKind::Standard | BlockKind::Ai | BlockKind::Input);
    // A block that waits has an effect on the time.
    !is_plain || spec.sensitive || spec.coordinates || spec.effect != ToolEffect::None
}
