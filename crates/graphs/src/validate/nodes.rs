//! Checks nodes: their blocks exist, required inputs are set, and values match their schemas.

use std::collections::HashSet;

use protocol::block::{BlockKind, BlockSpec};
use protocol::graph::{GraphProblem, Node};
use serde_json::{Map, Value};

use super::index::{GraphIndex, IndexedNode};
use super::known_blocks;
use super::node_pins::{self, PinSchema};
use crate::placeholders::{FILL_TEXT, FILL_TEXT_VALUES};
use crate::problem::{ProblemCode, ProblemDetails};
use crate::schema::{interface_name, value_problem};
use crate::{pins, types};

/// The settings that identify a nested agent.
const AGENT: [&str; 2] = ["graph_id", "graph_version"];

pub(crate) fn check(document: &GraphIndex<'_>) -> Vec<GraphProblem> {
    let mut problems = Vec::new();
    let (mut ids, mut inputs) = (HashSet::new(), HashSet::new());
    for node in &document.graph.nodes {
        if !ids.insert(&node.id) {
            let message = format!("Another node already has the id {}.", node.id);
            problems.push(document.at_node(ProblemCode::DuplicateNode, node, message));
            continue;
        }
        let placed = document.nodes[&node.id];
        let Some(spec) = placed.spec else {
            problems.push(unknown_block(document, placed));
            continue;
        };
        let name = interface_name(node).filter(|_| spec.kind == BlockKind::Input);
        if let Some(name) = name.filter(|name| !inputs.insert(*name)) {
            let message = format!("Another input of the agent is already named “{name}”.");
            let problem = document.at_node(ProblemCode::DuplicateInput, node, message);
            // Only the first of them can be an input of the spec.
            let place = (Some(format!("inputs.{name}")), Some(name.to_owned()));
            problems.push(GraphProblem { path: place.0, step: place.1, ..problem });
        }
        problems.extend(settings(document, placed, spec));
    }
    problems
}

fn unknown_block(document: &GraphIndex<'_>, placed: IndexedNode<'_>) -> GraphProblem {
    let id = &placed.node.block_id;
    let name = known_blocks::name(id);
    let mut message = match name {
        Some(name) => format!("There is no block {name} ({id}) for {placed}."),
        None => format!("There is no block {id} for {placed}."),
    };
    let similar = document.similar_blocks(name.unwrap_or(id.as_str()));
    if !similar.is_empty() {
        message.push_str(&format!(" Similar blocks: {}.", similar.join(", ")));
    }
    let problem = document.at_pin(ProblemCode::UnknownBlock, placed.node, "block", message);
    let expected = match similar.is_empty() {
        true => "a block of this server".to_owned(),
        false => similar.join(", "),
    };
    problem.expected(expected).got(name.unwrap_or(id.as_str()))
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
            let name = node.input_default.keys().find(|name| pins::steps(name).is_err());
            let pin = name.map_or("", |name| pins::base(name));
            let problem =
                document.at_pin(ProblemCode::WrongInput, node, pin, format!("{placed}: {why}."));
            return vec![problem.expected("the name of a pin")];
        }
    };
    let linked: HashSet<&str> =
        document.arriving(&node.id).iter().map(|link| pins::base(&link.sink_name)).collect();
    let mut problems = Vec::new();
    if spec.kind == BlockKind::Agent && !names_an_agent(&given) {
        let message = format!("{placed} needs a `graph_id` and a `graph_version`.");
        let problem = document.at_pin(ProblemCode::MissingAgent, node, "agent", message);
        problems.push(problem.expected("the id and the version of an agent"));
    }
    for pin in missing(node, spec, &given, &linked) {
        problems.push(missing_input(document, placed, spec, pin));
    }
    // A value that a link replaces need not match: forms leave arbitrary values there.
    for (pin, value) in given.into_iter().filter(|(pin, _)| !linked.contains(pin.as_str())) {
        let Some(schema) = spec.input(&pin).filter(|schema| !types::is_blank(&value, schema))
        else {
            continue;
        };
        if let Some(why) = value_problem(value.clone(), schema) {
            let message = format!("The value of `{pin}` does not match {placed}: {why}.");
            let problem = document.at_pin(ProblemCode::WrongInput, node, &pin, message);
            let mut problem = problem.expected(expected(schema)).got(shown(&value));
            problem.edit = choice_meant(document, &value, schema)
                .and_then(|meant| document.set(node, &pin, Some(meant)));
            problems.push(problem);
        }
    }
    problems
}

fn missing_input(
    document: &GraphIndex<'_>,
    placed: IndexedNode<'_>,
    spec: &BlockSpec,
    pin: &str,
) -> GraphProblem {
    let message = format!("{placed} needs the input `{pin}`: give it a value or a link.");
    let problem = document.at_pin(ProblemCode::MissingInput, placed.node, pin, message);
    let schema = match node_pins::input(placed.node, spec, pin) {
        PinSchema::Typed(schema) => schema,
        _ => &Value::Null,
    };
    let mut problem = problem.expected(expected(schema));
    // A text without placeholders needs no values, and the values of others are linked one by one.
    if spec.id == FILL_TEXT && pin == FILL_TEXT_VALUES {
        problem.edit = document.set(placed.node, pin, Some(Value::Object(Map::new())));
    }
    problem
}

/// The choice that a misspelled text stands for.
pub(crate) fn choice_meant(
    document: &GraphIndex<'_>,
    value: &Value,
    schema: &Value,
) -> Option<Value> {
    let choices = schema.get("enum")?.as_array()?.iter().filter_map(Value::as_str);
    document.only_meant(value.as_str()?, choices).map(Value::from)
}

/// What a pin takes, in words.
pub(crate) fn expected(schema: &Value) -> String {
    const CHOICES: usize = 20;
    match schema.get("enum").and_then(Value::as_array) {
        Some(choices) => {
            let more = if choices.len() > CHOICES { ", …" } else { "" };
            let shown: Vec<String> = choices.iter().take(CHOICES).map(shown).collect();
            format!("one of {}{more}", shown.join(", "))
        }
        None => types::TypeSet::of(schema).to_string(),
    }
}

/// A value as a problem shows it, shortened.
pub(crate) fn shown(value: &Value) -> String {
    protocol::text::cut_end(&value.to_string(), 100)
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
