//! Checks links: both nodes and both pins exist, and the types are convertible.

use std::collections::HashSet;

use protocol::graph::{GraphProblem, Link};

use super::node_pins::{self, PinSchema};
use super::{GraphIndex, GraphProblemCode, IndexedNode};
use crate::graph::pins;

pub(super) fn check(document: &GraphIndex<'_>) -> Vec<GraphProblem> {
    let mut problems = Vec::new();
    let mut seen = HashSet::new();
    for link in &document.graph.links {
        if !seen.insert(&link.id) {
            let message = format!("Another link already has the id {}.", link.id);
            problems.push(GraphProblemCode::DuplicateLink.of_link(link, message));
        }
        problems.extend(ends(document, link));
    }
    problems
}

fn ends(document: &GraphIndex<'_>, link: &Link) -> Vec<GraphProblem> {
    let missing: Vec<GraphProblem> = [&link.source_id, &link.sink_id]
        .into_iter()
        .filter(|id| !document.nodes.contains_key(id))
        .map(|id| {
            let message = format!(
                "The link from `{}` to `{}` refers to the node {id}, which does not exist.",
                link.source_name, link.sink_name
            );
            GraphProblemCode::MissingNode.of_link(link, message)
        })
        .collect();
    if !missing.is_empty() {
        return missing;
    }
    let (source, sink) = (document.nodes[&link.source_id], document.nodes[&link.sink_id]);
    let given = source_pin(source, link);
    let taken = sink_pin(sink, link);
    match (given, taken) {
        (Ok(given), Ok(taken)) => mismatch(link, given, taken).into_iter().collect(),
        (given, taken) => given.err().into_iter().chain(taken.err()).collect(),
    }
}

fn source_pin<'a>(source: IndexedNode<'a>, link: &Link) -> Result<PinSchema<'a>, GraphProblem> {
    let Some(spec) = source.spec else { return Ok(PinSchema::Anything) };
    let name = link.source_name.as_str();
    // The value of a tool call is not known before the call.
    if pins::is_tool(name) && spec.output(pins::TOOLS).is_some() {
        return Ok(PinSchema::Anything);
    }
    let problem = |why: String| GraphProblemCode::UnknownOutput.of_link(link, why);
    match node_pins::output(source.node, spec, pins::base(name)) {
        PinSchema::Missing => Err(problem(format!("{source} has no output `{name}`."))),
        pin => pin.at_path(name).map_err(|why| problem(format!("Output of {source}: {why}."))),
    }
}

fn sink_pin<'a>(sink: IndexedNode<'a>, link: &Link) -> Result<PinSchema<'a>, GraphProblem> {
    let Some(spec) = sink.spec else { return Ok(PinSchema::Anything) };
    let name = link.sink_name.as_str();
    let problem = |why: String| GraphProblemCode::UnknownInput.of_link(link, why);
    match node_pins::input(sink.node, spec, pins::base(name)) {
        PinSchema::Missing => Err(problem(format!("{sink} has no input `{name}`."))),
        pin => pin.at_path(name).map_err(|why| problem(format!("Input of {sink}: {why}."))),
    }
}

fn mismatch(link: &Link, given: PinSchema<'_>, taken: PinSchema<'_>) -> Option<GraphProblem> {
    let (given, taken) = (given.types(), taken.types());
    let message = || {
        format!(
            "`{}` emits {given}, but `{}` accepts {taken}, and there is no conversion between them.",
            link.source_name, link.sink_name
        )
    };
    (!given.can_become(taken)).then(|| GraphProblemCode::WrongType.of_link(link, message()))
}
