//! The tools that links offer to orchestrators.

use std::collections::HashMap;

use graphs::AGENT_EXECUTOR;
use graphs::answer_pins::tool_links;
use graphs::catalog::BlockSpecs;
use graphs::validate::node_pins;
use ports::block::ToolPin;
use protocol::NodeId;
use protocol::block::BlockSpec;
use protocol::graph::{Graph, Node};
use serde_json::Value;

/// The tools that links offer, by the node that may call them.
pub(crate) fn offered_tools<'a>(
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
