//! Finds cycles that can never start.
//!
//! A node fires when each of its linked pins has a value, whichever link brings it. A cycle works if a value can enter
//! it from outside, on a pin that the cycle feeds later. If every entry waits for the cycle itself, none of its nodes
//! ever fires. An orchestrator can start a cycle: its first run does not wait for the answers of its tools.

use std::collections::{HashMap, HashSet, VecDeque};

use protocol::NodeId;
use protocol::block::BlockKind;
use protocol::graph::GraphProblem;

use super::index::{GraphIndex, IndexedNode};
use crate::answer_pins;
use crate::problem::ProblemCode;

pub(crate) fn check(document: &GraphIndex<'_>) -> Vec<GraphProblem> {
    let circular = circular(document, silent(document));
    let stuck = document.in_order().filter(|placed| circular.contains(&placed.node.id));
    stuck
        .map(|IndexedNode { node, .. }| {
            let message = format!(
                "{} never runs: it is part of a cycle in which every node waits for another one. Give one of the \
                 cycle's pins a first value with a link from outside.",
                document.nodes[&node.id]
            );
            document.at_node(ProblemCode::DeadCycle, node, message)
        })
        .collect()
}

/// The nodes that never fire.
pub(crate) fn silent<'a>(document: &GraphIndex<'a>) -> HashSet<&'a NodeId> {
    let answers = answer_pins::answer_pins(document.graph);
    // The pins that each node still waits for.
    let mut awaited: HashMap<&NodeId, HashSet<&str>> = HashMap::new();
    let mut firing = VecDeque::new();
    for (id, placed) in &document.nodes {
        let is_input = placed.spec.is_some_and(|spec| spec.kind == BlockKind::Input);
        // A link from a missing node is reported separately.
        let real = document
            .arriving(id)
            .iter()
            .filter(|link| document.nodes.contains_key(&link.source_id));
        let mut pins: HashSet<&str> = real.map(|link| link.sink_name.as_str()).collect();
        pins.retain(|pin| !answers.get(id).is_some_and(|answers| answers.contains(pin)));
        if is_input || pins.is_empty() {
            firing.push_back(*id);
        } else {
            awaited.insert(*id, pins);
        }
    }
    while let Some(id) = firing.pop_front() {
        for link in document.leaving(id) {
            let Some(pins) = awaited.get_mut(&link.sink_id) else { continue };
            pins.remove(link.sink_name.as_str());
            if pins.is_empty() {
                awaited.remove(&link.sink_id);
                firing.push_back(&link.sink_id);
            }
        }
    }
    awaited.into_keys().collect()
}

/// The silent nodes that wait in a cycle, without those that only wait downstream of one.
pub(crate) fn circular<'a>(
    document: &GraphIndex<'a>,
    mut silent: HashSet<&'a NodeId>,
) -> HashSet<&'a NodeId> {
    let mut feeds: HashMap<&NodeId, usize> = HashMap::new();
    let links = &document.graph.links;
    for link in links.iter().filter(|link| silent.contains(&link.sink_id)) {
        *feeds.entry(&link.source_id).or_default() += 1;
    }
    let mut last: Vec<&NodeId> =
        silent.iter().copied().filter(|id| !feeds.contains_key(*id)).collect();
    while let Some(id) = last.pop() {
        silent.remove(id);
        for link in document.arriving(id) {
            let Some(left) = feeds.get_mut(&link.source_id) else { continue };
            *left -= 1;
            if *left == 0 && silent.contains(&link.source_id) {
                last.push(&link.source_id);
            }
        }
    }
    silent
}
