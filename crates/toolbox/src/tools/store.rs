//! What tools say when a store below them is unwell, and whose things they may touch.

use ports::PortError;
use ports::tool::{ToolContext, ToolError};
use protocol::UserId;

pub(super) fn trouble(error: PortError) -> ToolError {
    let sentence = "Agents are temporarily unavailable. Try again later.";
    unavailable(error, "store_unavailable", sentence)
}

/// The model can go on without a store that is unwell, unless the process is going down.
pub(super) fn unavailable(error: PortError, code: &'static str, sentence: &str) -> ToolError {
    match error {
        PortError::Closed => ToolError::Fatal("The server is shutting down.".into()),
        PortError::Full => ToolError::tell("storage_full", "The server's disk is full."),
        error => {
            tracing::warn!(%error, code, "a store that a tool needs is unavailable");
            ToolError::tell(code, sentence)
        }
    }
}

/// The engine calls tools that need a person for a person only; this says so once more where it matters.
pub(super) fn user(context: &ToolContext) -> Result<UserId, ToolError> {
    let sentence = "Sign in to use this tool.";
    context.owner.user().cloned().ok_or_else(|| ToolError::tell("need_login", sentence))
}

/// An argument that is there and says something.
pub(super) fn given(argument: Option<&String>) -> Option<&str> {
    argument.map(|text| text.trim()).filter(|text| !text.is_empty())
}
