//! The bodies of requests. Their field names are the contract with the service.

use ports::agent_generator::{AgentGoal, UsableAgent};
use ports::tool::OperationHandle;
use protocol::graph::Graph;
use protocol::{GraphId, OperationId, TaskId};
use serde::Serialize;
use serde_json::Value;

#[derive(Serialize)]
pub(crate) struct DecomposeRequest<'a> {
    pub(crate) description: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) library_agents: Vec<LibraryAgent<'a>>,
}

#[derive(Serialize)]
pub(crate) struct GenerateRequest<'a> {
    pub(crate) instructions: &'a Value,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) library_agents: Vec<LibraryAgent<'a>>,
    #[serde(flatten)]
    pub(crate) operation: Option<OperationIds<'a>>,
}

#[derive(Serialize)]
pub(crate) struct UpdateRequest<'a> {
    pub(crate) update_request: String,
    pub(crate) current_agent_json: &'a Graph,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) library_agents: Vec<LibraryAgent<'a>>,
    #[serde(flatten)]
    pub(crate) operation: Option<OperationIds<'a>>,
}

#[derive(Serialize)]
pub(crate) struct TemplateRequest<'a> {
    pub(crate) template_agent_json: &'a Graph,
    pub(crate) modification_request: String,
}

/// With these the service may answer 202 and report a completion later.
#[derive(Serialize)]
pub(crate) struct OperationIds<'a> {
    operation_id: &'a OperationId,
    task_id: &'a TaskId,
}

impl<'a> OperationIds<'a> {
    pub(crate) fn of(operation: &'a OperationHandle) -> Self {
        Self { operation_id: &operation.operation_id, task_id: &operation.task_id }
    }
}

#[derive(Serialize)]
pub(crate) struct LibraryAgent<'a> {
    graph_id: &'a GraphId,
    graph_version: u32,
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
    output_schema: &'a Value,
}

impl<'a> From<&'a UsableAgent> for LibraryAgent<'a> {
    fn from(agent: &'a UsableAgent) -> Self {
        Self {
            graph_id: &agent.graph_id,
            graph_version: agent.graph_version,
            name: &agent.name,
            description: &agent.description,
            input_schema: &agent.input_schema,
            output_schema: &agent.output_schema,
        }
    }
}

pub(crate) fn library_agents(goal: &AgentGoal) -> Vec<LibraryAgent<'_>> {
    goal.library_agents.iter().map(LibraryAgent::from).collect()
}

/// The goal or the change, with what else the user said; the service has one field for both.
pub(crate) fn with_context(goal: &AgentGoal) -> String {
    match goal.context.as_deref().map(str::trim).filter(|context| !context.is_empty()) {
        None => goal.description.clone(),
        Some(context) => {
            format!("{}\n\nAdditional context from user:\n{context}", goal.description)
        }
    }
}
