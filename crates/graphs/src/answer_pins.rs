//! The inputs of orchestrators on which the answers of their tools return.

use std::collections::{HashMap, HashSet};

use protocol::NodeId;
use protocol::graph::{Graph, Link};

use crate::pins;

/// The inputs of orchestrators that only the orchestrator and nodes downstream of it lead to: the answers of their
/// tools, which cannot exist before the first call.
pub fn answer_pins(graph: &Graph) -> HashMap<&NodeId, HashSet<&str>> {
    let mut leaving: HashMap<&NodeId, Vec<&NodeId>> = HashMap::new();
    for link in &graph.links {
        leaving.entry(&link.source_id).or_default().push(&link.sink_id);
    }
    let callers: HashSet<&NodeId> = tool_links(graph).map(|link| &link.source_id).collect();
    let of = |caller: &'_ NodeId| {
        let downstream = downstream(caller, &leaving);
        let arriving = || graph.links.iter().filter(|link| link.sink_id == *caller);
        let from_elsewhere: HashSet<&str> = arriving()
            .filter(|link| link.source_id != *caller && !downstream.contains(&link.source_id))
            .map(|link| link.sink_name.as_str())
            .collect();
        let pins = arriving().map(|link| link.sink_name.as_str());
        pins.filter(|pin| !from_elsewhere.contains(pin)).collect()
    };
    callers.into_iter().map(|caller| (caller, of(caller))).collect()
}

/// The links that offer their sink as a tool of their source.
pub fn tool_links(graph: &Graph) -> impl Iterator<Item = &Link> {
    graph.links.iter().filter(|link| pins::tool_target(&link.source_name).is_some())
}

fn downstream<'a>(
    node: &NodeId,
    leaving: &HashMap<&'a NodeId, Vec<&'a NodeId>>,
) -> HashSet<&'a NodeId> {
    let mut seen = HashSet::new();
    let mut next: Vec<&NodeId> = leaving.get(node).cloned().unwrap_or_default();
    while let Some(id) = next.pop() {
        if seen.insert(id) {
            next.extend(leaving.get(id).into_iter().flatten());
        }
    }
    seen
}
