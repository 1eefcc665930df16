//! A tool that the model can call.

use std::time::Duration;

use async_trait::async_trait;
use protocol::permissions::Permissions;
use protocol::response::ToolResponse;
use protocol::session::Owner;
use protocol::tool::ToolSpec;
use protocol::{CallId, OperationId, SessionId, TaskId, TurnId};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::PortError;
use crate::call_services::CallServices;

/// Laws: the arguments are valid against the schema before `call`; it stops soon after `cancel`; its response is bounded;
/// an error says who must act; every example returns the response it names (`every_example_of_every_tool_passes`).
#[async_trait]
pub trait Tool: Send + Sync {
    fn spec(&self) -> &ToolSpec;
    async fn call(&self, arguments: Value, context: ToolContext)
    -> Result<ToolResponse, ToolError>;
    /// Checks a call before it becomes an operation, in the turn whose model requested it. An error is the result of the
    /// call then, and nothing is started.
    fn begin_operation(
        &self,
        _arguments: &Value,
        _context: &ToolContext,
    ) -> Result<OperationWords, ToolError> {
        Ok(OperationWords::default())
    }
    fn examples(&self) -> Vec<ToolExample>;
}

/// Per-call data. Long-lived dependencies are passed to the tool's constructor.
#[derive(Clone)]
pub struct ToolContext {
    pub owner: Owner,
    pub session_id: SessionId,
    pub turn_id: TurnId,
    pub call_id: CallId,
    /// The same in every attempt at this call: `turn/step/call`.
    pub idempotency_key: String,
    pub dry_run: bool,
    /// How long the call may block its step, if limited.
    pub budget: Option<Duration>,
    pub cancel: CancellationToken,
    pub permissions: Permissions,
    /// The operation that the call carries out, if any.
    pub operation: Option<OperationHandle>,
    /// Services of the engine for the call.
    pub services: CallServices,
}

/// The ids under which the result of an operation is awaited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationHandle {
    pub operation_id: OperationId,
    pub task_id: TaskId,
}

/// What is said about an operation that was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationWords {
    /// In the history, until there is a result.
    pub pending: String,
    /// For the model that requested it.
    pub started: String,
}

impl Default for OperationWords {
    fn default() -> Self {
        Self {
            pending: "The operation is running. Its result will appear here when it has ended."
                .to_owned(),
            started:
                "The operation was started. The conversation continues by itself when it has ended."
                    .to_owned(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ToolError {
    /// The model can read this and react.
    #[error("{message}")]
    TellModel { code: &'static str, message: String },
    /// The turn cannot continue.
    #[error("{0}")]
    Fatal(String),
}

impl ToolError {
    pub fn tell(code: &'static str, message: impl Into<String>) -> Self {
        Self::TellModel { code, message: message.into() }
    }
}

impl From<PortError> for ToolError {
    /// An error that the model can work around, unless the server is shutting down. The call ends with it, so it is
    /// logged here and nowhere else.
    fn from(error: PortError) -> Self {
        let message = error.message();
        match error {
            PortError::Closed => return Self::Fatal(message.to_owned()),
            PortError::Full => return Self::tell("storage_full", message),
            PortError::Unavailable(reason) => {
                tracing::warn!(reason, "tool call failed: the store is not available");
            }
            PortError::Broken(reason) => {
                tracing::error!(reason, "tool call failed: internal error in the store");
            }
        }
        Self::tell("store_unavailable", message)
    }
}

/// A call that works without external services, and the `type` of its response.
#[derive(Clone, Debug)]
pub struct ToolExample {
    pub arguments: Value,
    pub response: &'static str,
}
