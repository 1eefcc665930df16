//! An agent: a graph of blocks, in the origin's JSON format, so that agents can be exchanged with it.

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::graph_edit::GraphEdit;
use crate::ids::{BlockId, GraphId, NodeId, UserId};

/// Separators between the name of a pin and a key, an index or an attribute inside its value.
pub const KEY_MARK: &str = "_#_";
pub const INDEX_MARK: &str = "_$_";
pub const ATTRIBUTE_MARK: &str = "_@_";
/// The pin of a node as a tool of an orchestrator: `tools_^_<node>_~_<field>`.
pub const TOOL_MARK: &str = "_^_";
pub const TOOL_FIELD_MARK: &str = "_~_";

/// A graph of blocks. Unknown fields are ignored: exported agents contain their schemas, their owner and every link twice.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Graph {
    /// Generated when absent, as in hand-written files.
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
    /// Agents that nodes of this one run; only in exported files.
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
    /// Position and the like; ignored by the engine.
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

/// Exported files contain null for fields that were never set.
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

/// A graph in the store.
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

/// A problem of a graph, with its location and, where only one repair is possible, the edit that repairs it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = GraphProblem)]
pub struct GraphProblem {
    /// A stable code.
    pub code: String,
    /// Where it is in the agent spec: `steps.page.url`, `inputs.harbor`, `outputs.tide`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<NodeId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_id: Option<String>,
    /// The name of the step, input or output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    pub message: String,
    /// What would be right there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What is there instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub got: Option<String>,
    /// The edit that repairs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edit: Option<GraphEdit>,
}

/// Problems of the inputs of an execution.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct InputProblems {
    /// Inputs that the agent does not have.
    pub unknown: Vec<String>,
    /// Required inputs that are absent.
    pub missing: Vec<String>,
    /// Inputs with an invalid value, and why.
    pub wrong: Vec<(String, String)>,
}

impl InputProblems {
    pub fn is_empty(&self) -> bool {
        self.unknown.is_empty() && self.missing.is_empty() && self.wrong.is_empty()
    }
}

/// Features of a graph that users want to know before they run it.
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
    fn a_graph_only_needs_its_nodes() {
        let graph: Graph = serde_json::from_value(json!({
            "nodes": [{"id": "a", "block_id": "b"}],
            "links": [{"source_id": "a", "sink_id": "a", "source_name": "x", "sink_name": "y"}]
        }))
        .unwrap();
        assert_eq!((graph.version, graph.is_active), (1, true));
        assert!(!graph.id.as_str().is_empty() && !graph.links[0].id.is_empty());
    }

    #[test]
    fn unknown_fields_of_an_exported_file_are_ignored() {
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
