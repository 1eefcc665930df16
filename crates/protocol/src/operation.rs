//! Long-running tool calls that outlive their step.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::{OperationId, SessionId, TaskId, TurnId};
use crate::message::{ToolCall, ToolOutcome};

#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    pub id: OperationId,
    /// Its stream, and the turn that carries it out.
    pub task_id: TaskId,
    pub session_id: SessionId,
    /// The turn whose model asked for it, and the call it answers.
    pub asked_by: TurnId,
    pub call: ToolCall,
    pub state: OperationState,
    /// What stands in the history as the call's result, once it has ended.
    pub result: Option<OperationResult>,
    pub created_at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationState {
    /// Waits for a worker, or has one.
    Running,
    /// The work goes on elsewhere; a completion is awaited.
    Accepted,
    /// It has its result; what is left is to go on with the conversation.
    Ended,
}

impl OperationState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Accepted => "accepted",
            Self::Ended => "ended",
        }
    }
}

/// What an operation came to: the text of the tool row and how it is to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationResult {
    pub output: String,
    pub outcome: ToolOutcome,
}

/// As a person or a model sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OperationStatus {
    Running,
    Completed,
    Failed,
    NotFound,
}

impl Operation {
    pub fn status(&self) -> OperationStatus {
        match &self.result {
            None => OperationStatus::Running,
            Some(result) if result.outcome == ToolOutcome::Ok => OperationStatus::Completed,
            Some(_) => OperationStatus::Failed,
        }
    }
}

/// What somebody outside says an operation came to.
#[derive(Clone, Debug, PartialEq, Deserialize, utoipa::ToSchema)]
pub struct OperationCompletion {
    pub success: bool,
    /// An object or a text; nothing means that there is nothing more to say than that it is done.
    #[serde(default)]
    pub result: Option<Value>,
    #[serde(default)]
    pub error: Option<String>,
}
