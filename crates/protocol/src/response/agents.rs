//! Tool responses about agents and their executions.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::execution::{ExecutionStatus, NodeExecution, NodeFailure};
use crate::graph::Graph;
use crate::ids::{ExecutionId, GraphId, LibraryAgentId};

/// An agent found by a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AgentInfo {
    /// `username/slug` in the marketplace, the id of the entry in the library.
    pub id: String,
    pub name: String,
    pub description: String,
    pub source: AgentSource,
    pub in_library: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub creator: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_featured: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_external_trigger: Option<bool>,
    pub graph_id: GraphId,
    pub graph_version: u32,
    /// How well it matches the search, up to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub match_score: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<Box<Graph>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum AgentSource {
    Marketplace,
    Library,
}

/// What is needed to run an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AgentDetails {
    /// The id of the library agent, or of the graph if the user has none.
    pub id: String,
    pub name: String,
    pub description: String,
    pub in_library: bool,
    /// JSON schema of its inputs.
    pub inputs: Value,
    pub execution_options: ExecutionOptions,
}

/// How an agent can be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ExecutionOptions {
    pub manual: bool,
    pub scheduled: bool,
    pub webhook: bool,
}

/// An execution that was started, or that has not ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ExecutionStarted {
    pub execution_id: ExecutionId,
    pub graph_id: GraphId,
    pub graph_name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library_agent_id: Option<LibraryAgentId>,
    /// A link for the user to open it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library_agent_link: Option<String>,
    pub status: ExecutionStatus,
}

/// The outputs of an execution of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AgentOutput {
    pub agent_name: String,
    /// The graph.
    pub agent_id: GraphId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library_agent_id: Option<LibraryAgentId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library_agent_link: Option<String>,
    pub execution: ExecutionOutput,
    /// Matching executions including this one, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub available_executions: Vec<AvailableExecution>,
    pub total_executions: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ExecutionOutput {
    pub execution_id: ExecutionId,
    pub status: ExecutionStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub started_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub ended_at: Option<Timestamp>,
    /// Every output with its values, in order.
    pub outputs: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub inputs_summary: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub node_executions: Vec<NodeExecution>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes_failed: Vec<NodeFailure>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AvailableExecution {
    pub id: ExecutionId,
    pub status: ExecutionStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub started_at: Option<Timestamp>,
}
