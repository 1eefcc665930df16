//! Operations: long-running tool calls that outlive their step.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::{OperationId, SessionId, TaskId, TurnId};
use crate::message::{ToolCall, ToolOutcome};
use crate::text_enum::text_enum;

#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    pub id: OperationId,
    /// Its stream, and the turn that carries it out.
    pub task_id: TaskId,
    pub session_id: SessionId,
    /// The turn whose model requested it, and the call it answers.
    pub asked_by: TurnId,
    pub call: ToolCall,
    pub state: OperationState,
    /// The call's result in the history, once the operation has ended.
    pub result: Option<OperationResult>,
    pub created_at: Timestamp,
}

text_enum! {
    pub enum OperationState {
        /// Waits for a worker, or has one.
        Running = "running",
        /// Another service carries it out; its completion is awaited.
        Accepted = "accepted",
        /// It has its result; the chat still has to continue with it.
        Ended = "ended",
    }
}

/// The result of an operation: the text of the tool message and its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationResult {
    pub output: String,
    pub outcome: ToolOutcome,
}

/// The state as shown to users and models.
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

/// The result of an operation, reported by the service that carried it out.
#[derive(Clone, Debug, PartialEq, Deserialize, utoipa::ToSchema)]
pub struct OperationCompletion {
    pub success: bool,
    /// An object or a text; may be absent.
    #[serde(default)]
    pub result: Option<Value>,
    #[serde(default)]
    pub error: Option<String>,
}
