//! What a graph does, without what does not matter for it: ids, positions, the order of nodes, settings that links
//! replace.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use protocol::BlockId;
use protocol::graph::{Graph, Node};
use serde_json::{Map, Value};

use crate::AGENT_EXECUTOR;
use crate::catalog::BlockSpecs;
use crate::names::{NodeName, NodeNames};
use crate::pins;
use crate::placeholders::{FILL_TEXT, FILL_TEXT_VALUES};

/// Two graphs with the same meaning run alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Meaning {
    pub name: String,
    pub description: String,
    pub instructions: Option<String>,
    pub recommended_schedule: Option<String>,
    /// Nodes by their place in the spec.
    pub nodes: BTreeMap<String, NodeMeaning>,
    pub links: BTreeSet<LinkMeaning>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct NodeMeaning {
    pub block: BlockId,
    pub settings: Map<String, Value>,
}

/// From a pin to a pin, each with the place of its node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkMeaning {
    pub source: (String, String),
    pub sink: (String, String),
}

pub fn meaning(graph: &Graph, blocks: &dyn BlockSpecs) -> Meaning {
    let names = NodeNames::of(graph, blocks);
    let place = |id| names.get(id).map(NodeName::path);
    let links = graph.links.iter().filter_map(|link| {
        let calls_sink = pins::tool_target(&link.source_name)
            .is_some_and(|target| target.node == link.sink_id.as_str());
        let source = if calls_sink { pins::TOOLS } else { &link.source_name };
        Some(LinkMeaning {
            source: (place(&link.source_id)?, source.to_owned()),
            sink: (place(&link.sink_id)?, link.sink_name.clone()),
        })
    });
    let nodes = graph.nodes.iter().filter_map(|node| {
        let settings = settings(graph, node);
        Some((place(&node.id)?, NodeMeaning { block: node.block_id.clone(), settings }))
    });
    Meaning {
        name: graph.name.clone(),
        description: graph.description.clone(),
        instructions: graph.instructions.clone(),
        recommended_schedule: graph.recommended_schedule_cron.clone(),
        nodes: nodes.collect(),
        links: links.collect(),
    }
}

/// The settings of a node that have an effect.
fn settings(graph: &Graph, node: &Node) -> Map<String, Value> {
    let linked: HashSet<&str> = graph
        .links
        .iter()
        .filter(|link| link.sink_id == node.id)
        .map(|link| link.sink_name.as_str())
        .collect();
    let into: HashSet<&str> =
        linked.iter().filter(|name| pins::is_nested(name)).map(|name| pins::base(name)).collect();
    let runs_agent = node.block_id.as_str() == AGENT_EXECUTOR;
    let merged = pins::merge(node.input_default.clone()).unwrap_or(node.input_default.clone());
    let mut kept = Map::new();
    for (pin, value) in merged {
        let is_empty_frame = into.contains(pin.as_str()) && is_empty(&value);
        let is_empty_values =
            node.block_id.as_str() == FILL_TEXT && pin == FILL_TEXT_VALUES && is_empty(&value);
        // What a node says about the agent that it runs follows from that agent.
        let is_derived = runs_agent
            && (["user_id", "agent_name", "input_schema", "output_schema", "nodes_input_masks"]
                .contains(&pin.as_str())
                || (pin == "inputs" && is_empty(&value)));
        let is_replaced = linked.contains(pin.as_str());
        if !(value.is_null() || is_replaced || is_empty_frame || is_empty_values || is_derived) {
            kept.insert(pin, value);
        }
    }
    sorted(kept)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.is_empty(),
        Value::Array(items) => items.iter().all(Value::is_null),
        _ => false,
    }
}

fn sorted(settings: Map<String, Value>) -> Map<String, Value> {
    settings.into_iter().collect::<BTreeMap<_, _>>().into_iter().collect()
}
