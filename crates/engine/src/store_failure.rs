//! What a tool call or a node reports when the store fails while the engine serves it. The store's own message is for the
//! log: it may name hosts and files of the server.

use ports::PortError;
use ports::block::BlockError;
use ports::tool::ToolError;

/// For calls of a model, which can try again.
pub(crate) fn tell_model(error: PortError) -> ToolError {
    tracing::warn!(%error, "the store failed during a tool call");
    ToolError::tell("store_unavailable", "The server could not reach its store. Try again.")
}

/// For nodes of an execution.
pub(crate) fn fail_node(error: PortError) -> BlockError {
    tracing::warn!(%error, "the store failed during a node execution");
    BlockError::failed("The server could not reach its store.")
}
