//! Checks links: both nodes and both pins exist, and the types are convertible.

use std::collections::HashSet;

use protocol::block::BlockSpec;
use protocol::graph::{GraphProblem, Link};
use protocol::graph_edit::GraphEdit;
use serde_json::Value;

use super::index::{GraphIndex, IndexedNode};
use super::node_pins::{self, PinSchema};
use crate::pins;
use crate::problem::{ProblemCode, ProblemDetails};
use crate::reference::Reference;

pub(crate) fn check(document: &GraphIndex<'_>) -> Vec<GraphProblem> {
    let mut problems = Vec::new();
    let mut seen = HashSet::new();
    for link in &document.graph.links {
        if !seen.insert(&link.id) {
            let message = format!("Another link already has the id {}.", link.id);
            problems.push(document.at_link(ProblemCode::DuplicateLink, link, message));
        }
        problems.extend(problems_of(document, link));
    }
    problems
}

fn problems_of(document: &GraphIndex<'_>, link: &Link) -> Vec<GraphProblem> {
    let missing: Vec<GraphProblem> = [&link.source_id, &link.sink_id]
        .into_iter()
        .filter(|id| !document.nodes.contains_key(id))
        .map(|id| {
            let message = format!(
                "The link from `{}` to `{}` refers to the node {id}, which does not exist.",
                link.source_name, link.sink_name
            );
            let problem = document.at_link(ProblemCode::MissingNode, link, message);
            problem.expected("a node of the graph").got(id.as_str())
        })
        .collect();
    if !missing.is_empty() {
        return missing;
    }
    match link_pins(document, link) {
        (Ok(given), Ok(taken)) => mismatch(document, link, given, taken).into_iter().collect(),
        (given, taken) => given.err().into_iter().chain(taken.err()).collect(),
    }
}

type PinResult<'a> = Result<PinSchema<'a>, GraphProblem>;

/// What a link carries and what its sink takes. Both nodes must exist.
pub(crate) fn link_pins<'a>(
    document: &GraphIndex<'a>,
    link: &Link,
) -> (PinResult<'a>, PinResult<'a>) {
    let (source, sink) = (document.nodes[&link.source_id], document.nodes[&link.sink_id]);
    (source_pin(document, source, link), sink_pin(document, sink, link))
}

/// The same without problems: `None` if a node or a pin does not exist.
pub(crate) fn link_schemas<'a>(
    document: &GraphIndex<'a>,
    link: &Link,
) -> Option<(PinSchema<'a>, PinSchema<'a>)> {
    let (source, sink) = (document.nodes.get(&link.source_id)?, document.nodes.get(&link.sink_id)?);
    let is_call = pins::is_tool(&link.source_name);
    let known = |pin: PinSchema<'a>, name: &str| match pin {
        PinSchema::Missing => None,
        pin => pin.at_path(name).ok(),
    };
    let given = match source.spec {
        Some(spec) if !is_call => {
            let pin = node_pins::output(source.node, spec, pins::base(&link.source_name));
            known(pin, &link.source_name)?
        }
        _ => PinSchema::Anything,
    };
    let taken = match sink.spec {
        Some(spec) => {
            let pin = node_pins::input(sink.node, spec, pins::base(&link.sink_name));
            known(pin, &link.sink_name)?
        }
        None => PinSchema::Anything,
    };
    Some((given, taken))
}

fn source_pin<'a>(
    document: &GraphIndex<'a>,
    source: IndexedNode<'a>,
    link: &Link,
) -> PinResult<'a> {
    let Some(spec) = source.spec else { return Ok(PinSchema::Anything) };
    let name = link.source_name.as_str();
    // The value of a tool call is not known before the call.
    if pins::is_tool(name) && spec.output(pins::TOOLS).is_some() {
        return Ok(PinSchema::Anything);
    }
    let problem = |why: String| document.at_link(ProblemCode::UnknownOutput, link, why).got(name);
    match node_pins::output(source.node, spec, pins::base(name)) {
        PinSchema::Missing => {
            let known = node_pins::output_names(source.node, spec);
            let meant = document.meant(pins::base(name), known.iter().copied());
            let message = sentence(format!("{source} has no output `{name}`."), meant.as_deref());
            let mut problem = problem(message).expected(meant.clone().unwrap_or(listed(&known)));
            let only = meant.and_then(|_| document.only_meant(pins::base(name), known));
            problem.edit = only.and_then(|meant| relink(document, link, &meant));
            Err(problem)
        }
        pin => pin.at_path(name).map_err(|why| problem(format!("Output of {source}: {why}."))),
    }
}

/// The edit that takes the value from another output of the same step. It is one edit only if nothing else is linked to
/// the pin.
fn relink(document: &GraphIndex<'_>, link: &Link, output: &str) -> Option<GraphEdit> {
    let is_linked_to_pin = |other: &&&Link| other.sink_name == link.sink_name;
    if document.arriving(&link.sink_id).iter().filter(is_linked_to_pin).count() != 1 {
        return None;
    }
    let path = &link.source_name[pins::base(&link.source_name).len()..];
    let from = Reference::pin(document.step(&link.source_id)?, &format!("{output}{path}"));
    document.set(
        document.nodes.get(&link.sink_id)?.node,
        &link.sink_name,
        Some(Value::from(from.to_string())),
    )
}

fn sink_pin<'a>(document: &GraphIndex<'a>, sink: IndexedNode<'a>, link: &Link) -> PinResult<'a> {
    let Some(spec) = sink.spec else { return Ok(PinSchema::Anything) };
    let name = link.sink_name.as_str();
    let problem = |why: String| document.at_link(ProblemCode::UnknownInput, link, why).got(name);
    match node_pins::input(sink.node, spec, pins::base(name)) {
        PinSchema::Missing => {
            let known = node_pins::input_names(sink.node, spec);
            let meant = document.meant(pins::base(name), free_inputs(document, sink, spec));
            let message = sentence(format!("{sink} has no input `{name}`."), meant.as_deref());
            Err(problem(message).expected(meant.unwrap_or(listed(&known))))
        }
        pin => pin.at_path(name).map_err(|why| problem(format!("Input of {sink}: {why}."))),
    }
}

/// The inputs that no link fills.
pub(crate) fn free_inputs<'a>(
    document: &GraphIndex<'_>,
    sink: IndexedNode<'a>,
    spec: &'a BlockSpec,
) -> Vec<&'a str> {
    let arriving = document.arriving(&sink.node.id);
    let linked: HashSet<&str> = arriving.iter().map(|link| pins::base(&link.sink_name)).collect();
    let mut known = node_pins::input_names(sink.node, spec);
    known.retain(|pin| !linked.contains(pin));
    known
}

fn sentence(message: String, meant: Option<&str>) -> String {
    match meant {
        Some(meant) => format!("{message} Did you mean `{meant}`?"),
        None => message,
    }
}

fn listed(names: &[&str]) -> String {
    const SHOWN: usize = 20;
    let more = if names.len() > SHOWN { ", …" } else { "" };
    let shown = &names[..names.len().min(SHOWN)];
    format!("one of {}{more}", shown.join(", "))
}

fn mismatch(
    document: &GraphIndex<'_>,
    link: &Link,
    given: PinSchema<'_>,
    taken: PinSchema<'_>,
) -> Option<GraphProblem> {
    let (given, taken) = (given.types(), taken.types());
    if given.can_become(taken) {
        return None;
    }
    let message = format!(
        "`{}` emits {given}, but `{}` accepts {taken}, and there is no conversion between them.",
        link.source_name, link.sink_name
    );
    let problem = document.at_link(ProblemCode::WrongType, link, message);
    Some(problem.expected(taken.to_string()).got(given.to_string()))
}
