//! An agent: a graph of blocks, in the origin's JSON, so that its exported agents load here and ours load there.

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::ids::{BlockId, GraphId, NodeId, UserId};

/// Between the name of a pin and the key, the index or the attribute inside its value.
pub const KEY_MARK: &str = "_#_";
pub const INDEX_MARK: &str = "_$_";
pub const ATTRIBUTE_MARK: &str = "_@_";
/// The name of a node's pin as a tool of an orchestrator: `tools_^_<node>_~_<field>`.
pub const TOOL_MARK: &str = "_^_";
pub const TOOL_FIELD_MARK: &str = "_~_";

/// What a file has besides is passed over: exported agents carry their schemas, their owner and every link twice.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Graph {
    /// Absent in what was written by hand; then it gets a fresh one.
    #[serde(default = "GraphId::fresh")]
    pub id: GraphId,
    #[serde(default = "first")]
    pub version: u32,
    #[serde(default = "yes")]
    pub is_active: bool,
    #[serde(default, deserialize_with = "null_is_default")]
    pub name: String,
    #[serde(default, deserialize_with = "null_is_default")]
    pub description: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recommended_schedule_cron: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from_id: Option<GraphId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from_version: Option<u32>,
    #[serde(default, deserialize_with = "null_is_default")]
    pub nodes: Vec<Node>,
    #[serde(default, deserialize_with = "null_is_default")]
    pub links: Vec<Link>,
    /// Agents that nodes of this one run; in an exported file only.
    #[serde(default, deserialize_with = "null_is_default", skip_serializing_if = "Vec::is_empty")]
    #[schema(no_recursion)]
    pub sub_graphs: Vec<Graph>,
}

impl Default for GraphId {
    fn default() -> Self {
        Self::fresh()
    }
}

fn first() -> u32 {
    1
}

fn yes() -> bool {
    true
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Node {
    pub id: NodeId,
    pub block_id: BlockId,
    #[serde(default, deserialize_with = "null_is_default")]
    pub input_default: Map<String, Value>,
    /// Position and the like; the engine does not look at it.
    #[serde(default, deserialize_with = "null_is_default")]
    pub metadata: Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Link {
    #[serde(default = "fresh_link")]
    pub id: String,
    pub source_id: NodeId,
    pub sink_id: NodeId,
    pub source_name: String,
    pub sink_name: String,
    #[serde(default, deserialize_with = "null_is_default")]
    pub is_static: bool,
}

/// Exported files write null for what was never filled in.
fn null_is_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

fn fresh_link() -> String {
    uuid::Uuid::now_v7().to_string()
}

/// A graph as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredGraph {
    pub graph: Graph,
    pub user_id: UserId,
    pub created_at: Timestamp,
}

/// One version, without its nodes.
#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct GraphMeta {
    pub id: GraphId,
    pub version: u32,
    pub is_active: bool,
    pub name: String,
    pub description: String,
    #[schema(value_type = String)]
    pub created_at: Timestamp,
}

/// What is wrong with a graph, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = GraphProblem)]
pub struct GraphProblem {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<NodeId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_id: Option<String>,
    /// Stable.
    pub code: String,
    pub message: String,
}

/// What is wrong with the inputs of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct InputProblems {
    /// Names that the agent does not have.
    pub unknown: Vec<String>,
    /// Names without which it cannot run.
    pub missing: Vec<String>,
    /// Names whose value does not fit, and why.
    pub wrong: Vec<(String, String)>,
}

impl InputProblems {
    pub fn is_empty(&self) -> bool {
        self.unknown.is_empty() && self.missing.is_empty() && self.wrong.is_empty()
    }
}

/// What a graph contains that people want to know before they run it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct GraphFlags {
    pub has_external_trigger: bool,
    pub has_human_in_the_loop: bool,
    pub has_sensitive_action: bool,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_graph_needs_no_more_than_its_nodes() {
        let graph: Graph = serde_json::from_value(json!({
            "nodes": [{"id": "a", "block_id": "b"}],
            "links": [{"source_id": "a", "sink_id": "a", "source_name": "x", "sink_name": "y"}]
        }))
        .unwrap();
        assert_eq!((graph.version, graph.is_active), (1, true));
        assert!(!graph.id.as_str().is_empty() && !graph.links[0].id.is_empty());
    }

    #[test]
    fn what_an_exported_file_has_besides_is_passed_over() {
        let graph: Graph = serde_json::from_value(json!({
            "id": "g", "version": 7, "is_active": false, "name": "N", "description": null,
            "instructions": null, "forked_from_id": null, "forked_from_version": null,
            "user_id": "", "created_at": "2026-04-13T03:45:11.241Z", "links": null,
            "sub_graphs": null, "input_schema": {"type": "object"}, "has_external_trigger": false,
            "nodes": [{
                "id": "a", "block_id": "b", "input_default": null, "metadata": null,
                "input_links": [], "output_links": [], "graph_id": "g", "graph_version": 7,
                "webhook_id": null, "webhook": null
            }]
        }))
        .unwrap();
        let again: Graph = serde_json::from_value(serde_json::to_value(&graph).unwrap()).unwrap();
        assert_eq!(again, graph);
        assert_eq!((graph.description.as_str(), graph.nodes.len()), ("", 1));
    }
}
