//! Tool errors for failures of the stores that tools use.

use ports::PortError;
use ports::tool::ToolError;

pub(crate) fn agents_unavailable(error: PortError) -> ToolError {
    let sentence = "Agents are temporarily unavailable. Try again later.";
    unavailable(error, "store_unavailable", sentence)
}

/// An error that the model can work around, unless the server is shutting down.
pub(crate) fn unavailable(error: PortError, code: &'static str, sentence: &str) -> ToolError {
    match error {
        PortError::Closed => ToolError::Fatal("The server is shutting down.".into()),
        PortError::Full => ToolError::tell("storage_full", "The server's disk is full."),
        error => {
            tracing::warn!(%error, code, "a store that a tool needs is unavailable");
            ToolError::tell(code, sentence)
        }
    }
}
