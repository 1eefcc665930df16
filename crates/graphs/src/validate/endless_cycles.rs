//! Finds cycles that never end once they have started.
//!
//! A cycle ends if one of its nodes needs a value from outside for every firing, or if one of its links does not carry a
//! value every time: an output of a block with several of them (such as a condition), `error`, or a part of a value. What
//! is left are cycles in which every firing causes the next one, until the limit on node executions ends the run.

use std::collections::{HashMap, HashSet, VecDeque};

use protocol::NodeId;
use protocol::block::BlockKind;
use protocol::graph::{GraphProblem, Link};
use protocol::tool::ToolEffect;
use serde_json::Value;

use super::cycles;
use super::index::GraphIndex;
use crate::pins;
use crate::problem::{ProblemCode, ProblemDetails};

pub(crate) fn check(index: &GraphIndex<'_>) -> Vec<GraphProblem> {
    let endless = endless(index);
    if endless.is_empty() {
        return Vec::new();
    }
    let silent = cycles::silent(index);
    let stuck = index
        .in_order()
        .filter(|placed| endless.contains(&placed.node.id) && !silent.contains(&placed.node.id));
    let problem = |placed: super::index::IndexedNode<'_>| {
        let message = format!(
            "{placed} is part of a cycle that never ends: every run of it causes the next one. Add a condition to the \
             cycle, or an input that comes from outside for every round."
        );
        let problem = index.at_node(ProblemCode::EndlessCycle, placed.node, message);
        problem.expected("a condition, or an input from outside the cycle")
    };
    stuck.map(problem).collect()
}

/// The nodes of endless cycles.
fn endless<'a>(index: &GraphIndex<'a>) -> HashSet<&'a NodeId> {
    let mut pins: HashMap<&NodeId, FiringPins<'a>> =
        index.nodes.keys().map(|id| (*id, FiringPins::of(index, id))).collect();
    // Start with all nodes, and remove those that something outside must make fire.
    let mut endless: HashSet<&NodeId> = index.nodes.keys().copied().collect();
    let mut ended: VecDeque<&NodeId> =
        pins.values().filter(|firing| !firing.is_sustained()).map(|firing| firing.id).collect();
    while let Some(id) = ended.pop_front() {
        if !endless.remove(id) {
            continue;
        }
        for link in index.leaving(id).iter().filter(|link| always_carries(index, link)) {
            let Some(firing) = pins.get_mut(&link.sink_id) else { continue };
            firing.lose(link);
            if !firing.is_sustained() {
                ended.push_back(firing.id);
            }
        }
    }
    without_downstream(index, endless)
}

/// Removes the nodes that only follow a cycle: those that lead to no other of these nodes.
fn without_downstream<'a>(
    index: &GraphIndex<'a>,
    mut endless: HashSet<&'a NodeId>,
) -> HashSet<&'a NodeId> {
    let within = |link: &&&Link| always_carries(index, link);
    let mut feeds: HashMap<&NodeId, usize> = HashMap::new();
    for id in &endless {
        for link in index.arriving(id).iter().filter(within) {
            *feeds.entry(&link.source_id).or_default() += 1;
        }
    }
    let mut last: Vec<&NodeId> =
        endless.iter().copied().filter(|id| !feeds.contains_key(*id)).collect();
    while let Some(id) = last.pop() {
        endless.remove(id);
        for link in index.arriving(id).iter().filter(within) {
            let Some(left) = feeds.get_mut(&link.source_id) else { continue };
            *left -= 1;
            if *left == 0 && endless.contains(&link.source_id) {
                last.push(&link.source_id);
            }
        }
    }
    endless
}

/// The pins of a node whose values make it fire, each with the number of links that always bring one.
struct FiringPins<'a> {
    id: &'a NodeId,
    pins: HashMap<&'a str, usize>,
    /// If all links are static, any new value makes the node fire.
    any_fires: bool,
    /// How many of the pins no link feeds.
    starved: usize,
}

impl<'a> FiringPins<'a> {
    fn of(index: &GraphIndex<'a>, id: &NodeId) -> Self {
        let arriving = index.arriving(id);
        let mut is_static: HashMap<&str, bool> = HashMap::new();
        for link in arriving {
            *is_static.entry(link.sink_name.as_str()).or_insert(true) &=
                is_static_link(index, link);
        }
        let any_fires = is_static.values().all(|is_static| *is_static);
        let mut pins: HashMap<&str, usize> = HashMap::new();
        for link in arriving.iter().filter(|link| any_fires || !is_static[link.sink_name.as_str()])
        {
            *pins.entry(&link.sink_name).or_default() += usize::from(always_carries(index, link));
        }
        let starved = pins.values().filter(|links| **links == 0).count();
        Self { id: &index.nodes[id].node.id, pins, any_fires, starved }
    }

    /// One of the links brings nothing any more.
    fn lose(&mut self, link: &Link) {
        let Some(links) = self.pins.get_mut(link.sink_name.as_str()) else { return };
        *links = links.saturating_sub(1);
        self.starved += usize::from(*links == 0);
    }

    fn is_sustained(&self) -> bool {
        match self.any_fires {
            true => self.starved < self.pins.len(),
            false => self.starved == 0,
        }
    }
}

fn is_static_link(index: &GraphIndex<'_>, link: &Link) -> bool {
    let spec = index.nodes.get(&link.source_id).and_then(|source| source.spec);
    link.is_static || spec.is_some_and(|spec| spec.static_output)
}

/// Whether each firing of the source sends a value along the link.
fn always_carries(index: &GraphIndex<'_>, link: &Link) -> bool {
    let Some(spec) = index.nodes.get(&link.source_id).and_then(|source| source.spec) else {
        return false;
    };
    let outputs = spec.outputs.get("properties").and_then(Value::as_object);
    let mut named = outputs.into_iter().flatten().filter(|(pin, _)| *pin != "error");
    let is_only_output =
        matches!((named.next(), named.next()), (Some((pin, _)), None) if *pin == link.source_name);
    let is_plain = matches!(spec.kind, BlockKind::Standard | BlockKind::Ai);
    is_only_output
        && is_plain
        && spec.effect == ToolEffect::None
        && !pins::is_tool(&link.source_name)
}
