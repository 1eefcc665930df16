//! Makes agents from words.

use async_trait::async_trait;
use protocol::GraphId;
use protocol::graph::{Graph, GraphProblem};
use protocol::response::{SuggestedGoal, UserQuestion};
use serde_json::Value;

use crate::call_services::GivenAgent;
use crate::tool::OperationHandle;

/// Decides what an agent should do and writes it. The caller compiles, fixes, checks and rehearses what it gets, so a
/// generator cannot make an agent that the stages would refuse.
///
/// Laws: a call that is repeated with the same operation does the work at most once where the service allows it; dropping
/// a call ends it; it never waits forever.
#[async_trait]
pub trait AgentGenerator: Send + Sync {
    /// Whether the goal is clear and achievable, and the steps that lead to it.
    async fn decompose(&self, goal: &AgentGoal) -> Result<Decomposition, GeneratorError>;

    async fn generate(&self, request: &GenerateAgent) -> Result<Generated, GeneratorError>;

    /// Changes an agent of the user.
    async fn update(&self, request: &UpdateAgent) -> Result<Generated, GeneratorError>;

    /// Makes an agent from a template of the marketplace. Never `Accepted`.
    async fn customize(&self, request: &CustomizeAgent) -> Result<Generated, GeneratorError>;

    /// Tries again after the stages found errors in the agent. `None`: this generator cannot.
    async fn repair(&self, _: &FailedAgent) -> Result<Option<Generated>, GeneratorError> {
        Ok(None)
    }
}

/// What the user wants.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentGoal {
    pub description: String,
    /// Answers to questions, and what else the user said.
    pub context: Option<String>,
    /// Agents of the user that the new one may use as steps.
    pub library_agents: Vec<UsableAgent>,
}

/// An agent that another one can use as a step.
#[derive(Clone, Debug, PartialEq)]
pub struct UsableAgent {
    pub graph_id: GraphId,
    pub graph_version: u32,
    pub name: String,
    pub description: String,
    /// JSON schemas by name.
    pub input_schema: Value,
    pub output_schema: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Decomposition {
    /// The plan, as the generator wants it back in `GenerateAgent`. Its `steps` have a `description` each.
    Instructions(Value),
    Questions(Vec<UserQuestion>),
    /// The goal is vague or cannot be achieved; this one could be.
    Suggestion(SuggestedGoal),
}

#[derive(Clone, Debug, PartialEq)]
pub struct GenerateAgent {
    pub goal: AgentGoal,
    /// From `Decomposition::Instructions`.
    pub instructions: Value,
    /// The ids under which a later completion is awaited.
    pub operation: Option<OperationHandle>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct UpdateAgent {
    /// What to change; `description` is the change.
    pub change: AgentGoal,
    pub current: Box<Graph>,
    /// The current agent as a spec, where it has one.
    pub current_spec: String,
    pub operation: Option<OperationHandle>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CustomizeAgent {
    /// What to change; `description` is the change.
    pub change: AgentGoal,
    pub template: Box<Graph>,
    pub template_spec: String,
}

/// An agent in which the stages found errors.
#[derive(Clone, Debug, PartialEq)]
pub struct FailedAgent {
    pub goal: AgentGoal,
    /// The agent that was changed, if it is not a new one.
    pub current_spec: Option<String>,
    pub agent: GivenAgent,
    pub problems: Vec<GraphProblem>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Generated {
    /// The service does the work and reports a completion later.
    Accepted,
    /// Graph JSON or a spec.
    Agent(GivenAgent),
    Questions(Vec<UserQuestion>),
    Suggestion(SuggestedGoal),
}

/// Why there is no agent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct GeneratorError {
    /// A stable word: `timeout`, `rate_limit`, `connection_error`, `llm_parse_error`, …
    pub kind: String,
    /// What the generator said; not yet cleaned for users.
    pub message: String,
}

impl GeneratorError {
    pub fn new(kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind: kind.into(), message: message.into() }
    }
}
