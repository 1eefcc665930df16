//! One tool call: checked, then running in a task of its own, which may outlive its step.

use std::sync::Arc;

use ports::Tool;
use ports::tool::ToolError;
use protocol::message::ToolOutcome;
use protocol::response::ToolResponse;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// A running call. Dropping it aborts the call.
pub(crate) struct RunningCall {
    pub(crate) tool: &'static str,
    pub(crate) cancel: CancellationToken,
    pub(crate) started: Instant,
    handle: AbortOnDropHandle<Result<ToolResponse, ToolError>>,
}

/// How a call ended by itself.
pub(crate) enum CallEnd {
    Answer(ToolResponse, ToolOutcome),
    /// The turn cannot continue.
    Fatal,
}

/// A call that passed all checks.
pub(crate) struct CheckedCall {
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) arguments: serde_json::Value,
}

impl RunningCall {
    pub(crate) fn new(
        tool: &'static str,
        cancel: CancellationToken,
        task: JoinHandle<Result<ToolResponse, ToolError>>,
    ) -> Self {
        Self { tool, cancel, started: Instant::now(), handle: AbortOnDropHandle::new(task) }
    }

    /// Returns when the call has ended. Dropping the future does not stop the call.
    pub(crate) async fn wait(&mut self) -> CallEnd {
        let ended = (&mut self.handle).await;
        metrics::histogram!("pilothouse_tool_seconds", "tool" => self.tool)
            .record(self.started.elapsed());
        match ended {
            Ok(Ok(response)) => {
                let outcome =
                    if response.is_error() { ToolOutcome::Error } else { ToolOutcome::Ok };
                CallEnd::Answer(response, outcome)
            }
            Ok(Err(ToolError::TellModel { code, message })) => {
                CallEnd::Answer(ToolResponse::error(code, message), ToolOutcome::Error)
            }
            Ok(Err(ToolError::Fatal(message))) => {
                tracing::error!(
                    tool.name = self.tool,
                    error = message,
                    "a tool failed with a fatal error"
                );
                CallEnd::Fatal
            }
            Err(_panic) => {
                tracing::error!(tool.name = self.tool, "a tool panicked");
                let words = format!("{} crashed.", self.tool);
                CallEnd::Answer(ToolResponse::error("tool_crashed", words), ToolOutcome::Error)
            }
        }
    }
}
