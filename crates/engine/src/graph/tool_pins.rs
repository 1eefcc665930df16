//! Links that make nodes the tools of an orchestrator: the tools they offer, and the pins on which their answers
//! return.

use std::collections::{HashMap, HashSet};

use ports::block::ToolPin;
use protocol::NodeId;
use protocol::block::BlockSpec;
use protocol::graph::{Graph, Link, Node};
use serde_json::Value;

use super::schema::BlockSpecs;
use super::validate::node_pins;
use super::{AGENT_EXECUTOR, pins};

/// The tools that links offer, by the node that may call them.
pub(super) fn offered_tools<'a>(
    graph: &'a Graph,
    blocks: &dyn BlockSpecs,
) -> HashMap<&'a NodeId, Vec<ToolPin>> {
    let nodes: HashMap<&NodeId, &Node> = graph.nodes.iter().map(|node| (&node.id, node)).collect();
    let mut offered: HashMap<&NodeId, Vec<ToolPin>> = HashMap::new();
    for link in tool_links(graph) {
        let Some(node) = nodes.get(&link.sink_id) else { continue };
        let Some(spec) = blocks.spec(&node.block_id) else { continue };
        let known = node_pins::schema(node, spec, &link.sink_name);
        offered.entry(&link.source_id).or_default().push(ToolPin {
            pin: link.source_name.clone(),
            node_id: link.sink_id.clone(),
            name: name(node, spec),
            description: spec.description.to_owned(),
            field: link.sink_name.clone(),
            schema: known.cloned().unwrap_or(Value::Bool(true)),
            required: node_pins::is_required(node, spec, &link.sink_name),
        });
    }
    offered
}

/// The inputs of orchestrators that only the orchestrator and nodes downstream of it lead to: the answers of their
/// tools, which cannot exist before the first call.
pub(super) fn answer_pins(graph: &Graph) -> HashMap<&NodeId, HashSet<&str>> {
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

fn tool_links(graph: &Graph) -> impl Iterator<Item = &Link> {
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

/// The name given by the author, or the agent that the node runs, or its block.
fn name(node: &Node, spec: &BlockSpec) -> String {
    let runs = match node.block_id.as_str() == AGENT_EXECUTOR {
        true => node.input_default.get("agent_name"),
        false => None,
    };
    let given = [node.metadata.get("customized_name"), runs].into_iter().flatten();
    let given = given.filter_map(Value::as_str).find(|name| !name.is_empty());
    given.unwrap_or(spec.name).to_owned()
}
