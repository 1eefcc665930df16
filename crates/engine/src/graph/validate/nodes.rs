//! Checks nodes: their blocks exist, required inputs are set, and values match their schemas.

use std::collections::HashSet;

use protocol::block::{BlockKind, BlockSpec};
use protocol::graph::{GraphProblem, Node};
use serde_json::{Map, Value};

use super::{GraphIndex, GraphProblemCode, IndexedNode, known_blocks, node_pins};
use crate::graph::schema::{interface_name, value_problem};
use crate::graph::{pins, types};

/// The settings that identify a nested agent.
const AGENT: [&str; 2] = ["graph_id", "graph_version"];

pub(super) fn check(document: &GraphIndex<'_>) -> Vec<GraphProblem> {
    let mut problems = Vec::new();
    let (mut ids, mut inputs) = (HashSet::new(), HashSet::new());
    for node in &document.graph.nodes {
        if !ids.insert(&node.id) {
            let message = format!("Another node already has the id {}.", node.id);
            problems.push(GraphProblemCode::DuplicateNode.of_node(node, message));
            continue;
        }
        let placed = document.nodes[&node.id];
        let Some(spec) = placed.spec else {
            problems.push(unknown_block(placed));
            continue;
        };
        let name = interface_name(node).filter(|_| spec.kind == BlockKind::Input);
        if let Some(name) = name.filter(|name| !inputs.insert(*name)) {
            let message = format!("Another input of the agent is already named “{name}”.");
            problems.push(GraphProblemCode::DuplicateInput.of_node(node, message));
        }
        problems.extend(settings(document, placed, spec));
    }
    problems
}

fn unknown_block(placed: IndexedNode<'_>) -> GraphProblem {
    let id = &placed.node.block_id;
    let message = match known_blocks::name(id) {
        Some(name) => format!("There is no block {name} ({id}) for {placed}."),
        None => format!("There is no block {id} for {placed}."),
    };
    GraphProblemCode::UnknownBlock.of_node(placed.node, message)
}

fn settings(
    document: &GraphIndex<'_>,
    placed: IndexedNode<'_>,
    spec: &BlockSpec,
) -> Vec<GraphProblem> {
    let node = placed.node;
    let given = match pins::merge(node.input_default.clone()) {
        Ok(given) => given,
        Err(why) => {
            return vec![GraphProblemCode::WrongInput.of_node(node, format!("{placed}: {why}."))];
        }
    };
    let linked: HashSet<&str> =
        document.arriving(&node.id).iter().map(|link| pins::base(&link.sink_name)).collect();
    let mut problems = Vec::new();
    if spec.kind == BlockKind::Agent && !names_an_agent(&given) {
        let message = format!("{placed} needs a `graph_id` and a `graph_version`.");
        problems.push(GraphProblemCode::MissingAgent.of_node(node, message));
    }
    for pin in missing(node, spec, &given, &linked) {
        let message = format!("{placed} needs the input `{pin}`: give it a value or a link.");
        problems.push(GraphProblemCode::MissingInput.of_node(node, message));
    }
    // A value that a link replaces need not match: forms leave arbitrary values there.
    for (pin, value) in given.into_iter().filter(|(pin, _)| !linked.contains(pin.as_str())) {
        let Some(schema) = spec.input(&pin).filter(|schema| !types::is_blank(&value, schema))
        else {
            continue;
        };
        if let Some(why) = value_problem(value, schema) {
            let message = format!("The value of `{pin}` does not match {placed}: {why}.");
            problems.push(GraphProblemCode::WrongInput.of_node(node, message));
        }
    }
    problems
}

fn names_an_agent(given: &Map<String, Value>) -> bool {
    let id = given.get("graph_id").and_then(Value::as_str);
    let version = given.get("graph_version").and_then(Value::as_u64);
    id.is_some_and(|id| !id.is_empty()) && version.is_some_and(|version| version > 0)
}

/// Required inputs that neither the node nor a link provides.
fn missing<'a>(
    node: &'a Node,
    spec: &'a BlockSpec,
    given: &Map<String, Value>,
    linked: &HashSet<&str>,
) -> Vec<&'a str> {
    let is_given = |pin: &str, schema: Option<&Value>| {
        let value = given.get(pin);
        linked.contains(pin)
            || value
                .is_some_and(|value| schema.is_none_or(|schema| !types::is_blank(value, schema)))
    };
    let comes_with_the_run = |pin: &str| match spec.kind {
        BlockKind::Input => pin == "value",
        BlockKind::Webhook | BlockKind::WebhookManual => pin == "payload",
        BlockKind::Agent => AGENT.contains(&pin),
        _ => false,
    };
    let of_block =
        spec.required().filter(|pin| !is_given(pin, spec.input(pin)) && !comes_with_the_run(pin));
    let inner = given.get(inner_inputs(spec.kind)).and_then(Value::as_object);
    let own = node_pins::own_inputs(node, spec.kind).and_then(|own| own.get("required"));
    let own = own.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let of_node = own
        .filter(|pin| !is_given(pin, None) && !inner.is_some_and(|inner| inner.contains_key(*pin)));
    of_block.chain(of_node).collect()
}

/// The setting with the values of the pins that a node defines itself.
fn inner_inputs(kind: BlockKind) -> &'static str {
    match kind {
        BlockKind::McpTool => "tool_arguments",
        _ => "inputs",
    }
}
