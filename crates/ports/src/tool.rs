//! A tool: what the model can call.

use std::time::Duration;

use async_trait::async_trait;
use protocol::permissions::Permissions;
use protocol::response::ToolResponse;
use protocol::session::Owner;
use protocol::tool::ToolSpec;
use protocol::{CallId, OperationId, SessionId, TaskId, TurnId};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::call_services::CallServices;

/// Laws: the arguments are valid against the schema before `call`; it stops soon after `cancel`; what it
/// answers is bounded; an error says who must act; every example gives the response it names
/// (`every_example_of_every_tool_holds`).
#[async_trait]
pub trait Tool: Send + Sync {
    fn spec(&self) -> &ToolSpec;
    async fn call(&self, arguments: Value, context: ToolContext)
    -> Result<ToolResponse, ToolError>;
    fn examples(&self) -> Vec<ToolExample>;
}

/// Everything a call may know. What else a tool needs it was built with.
#[derive(Clone)]
pub struct ToolContext {
    pub owner: Owner,
    pub session_id: SessionId,
    pub turn_id: TurnId,
    pub call_id: CallId,
    /// The same in every attempt at this call: `turn/step/call`.
    pub idempotency_key: String,
    pub dry_run: bool,
    /// How long the call may hold its step, if anything limits it.
    pub budget: Option<Duration>,
    pub cancel: CancellationToken,
    pub permissions: Permissions,
    /// What the call carries out, when it is an operation.
    pub operation: Option<OperationHandle>,
    /// What the engine does for a call.
    pub services: CallServices,
}

/// The names under which the result of an operation is awaited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationHandle {
    pub operation_id: OperationId,
    pub task_id: TaskId,
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ToolError {
    /// The model can read this and do better.
    #[error("{message}")]
    TellModel { code: &'static str, message: String },
    /// The turn cannot go on.
    #[error("{0}")]
    Fatal(String),
}

impl ToolError {
    pub fn tell(code: &'static str, message: impl Into<String>) -> Self {
        Self::TellModel { code, message: message.into() }
    }
}

/// A call that works anywhere, and the `type` of what comes back.
#[derive(Clone, Debug)]
pub struct ToolExample {
    pub arguments: Value,
    pub response: &'static str,
}
