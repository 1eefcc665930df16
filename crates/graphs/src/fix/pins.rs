//! Misspelled pins, where only one pin can be meant. An agent with such a link does not run, so nothing that works
//! changes.

use protocol::graph::{Graph, GraphProblem, Link};

use super::links::has_both_nodes;
use super::{AppliedFix, FixContext};
use crate::pins;
use crate::validate::index::GraphIndex;
use crate::validate::node_pins::{self, PinSchema};
use crate::validate::{free_inputs, link_pins};

/// A new name for one end of a link.
struct Renaming {
    at: usize,
    is_source: bool,
    name: String,
    problem: GraphProblem,
}

pub(crate) fn spelling(graph: &mut Graph, context: &FixContext<'_>) -> Vec<AppliedFix> {
    let index = GraphIndex::read(graph, context.blocks);
    let mut renamings = Vec::new();
    for (at, link) in graph.links.iter().enumerate() {
        if !has_both_nodes(&index, link) {
            continue;
        }
        // Problems suggest names themselves, so they are made only where there is something to repair.
        if let Some(name) = output_meant(&index, link)
            && let Some(problem) = link_pins(&index, link).0.err()
        {
            renamings.push(Renaming { at, is_source: true, name, problem });
        }
        if let Some(name) = input_meant(&index, link)
            && let Some(problem) = link_pins(&index, link).1.err()
        {
            renamings.push(Renaming { at, is_source: false, name, problem });
        }
    }
    let mut fixes = Vec::new();
    for Renaming { at, is_source, name, problem } in renamings {
        let link = &mut graph.links[at];
        let pin = if is_source { &mut link.source_name } else { &mut link.sink_name };
        let message = format!("Renamed the pin `{pin}` of a link to `{name}`.");
        *pin = name;
        fixes.push(AppliedFix::of(problem, message));
    }
    fixes
}

fn output_meant(index: &GraphIndex<'_>, link: &Link) -> Option<String> {
    let source = index.nodes[&link.source_id];
    let spec = source.spec?;
    let (pin, path) = link.source_name.split_at(pins::base(&link.source_name).len());
    if !matches!(node_pins::output(source.node, spec, pin), PinSchema::Missing) {
        return None;
    }
    let meant = index.only_meant(pin, node_pins::output_names(source.node, spec))?;
    let name = format!("{meant}{path}");
    node_pins::output(source.node, spec, &meant).at_path(&name).ok()?;
    Some(name)
}

fn input_meant(index: &GraphIndex<'_>, link: &Link) -> Option<String> {
    let sink = index.nodes[&link.sink_id];
    let spec = sink.spec?;
    let (pin, path) = link.sink_name.split_at(pins::base(&link.sink_name).len());
    if !matches!(node_pins::input(sink.node, spec, pin), PinSchema::Missing) {
        return None;
    }
    // A pin that something else fills is not the one that is missing; members of one pin may come from several links.
    let candidates = match path.is_empty() {
        true => free_inputs(index, sink, spec),
        false => node_pins::input_names(sink.node, spec),
    };
    let meant = index.only_meant(pin, candidates)?;
    let name = format!("{meant}{path}");
    node_pins::input(sink.node, spec, &meant).at_path(&name).ok()?;
    Some(name)
}
