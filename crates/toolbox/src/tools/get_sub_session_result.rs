//! `get_sub_session_result`: status of a sub-session, and its answer when there is one.

use std::time::Duration;

use async_trait::async_trait;
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::SessionId;
use protocol::limits::MAX_TOOL_WAIT;
use protocol::response::ToolResponse;
use protocol::tool::{TimeBudget, ToolEffect, ToolSpec};
use protocol::tool_labels::{ToolIcon, ToolLabels};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::tools::{ToolDefinition, TypedTool, sub_session, waiting};

pub(crate) fn tool() -> ToolDefinition {
    ToolDefinition::new(|services| {
        Some(GetSubSessionResult { max_wait: services.max_wait.min(MAX_TOOL_WAIT) })
    })
}

struct GetSubSessionResult {
    max_wait: Duration,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetSubSessionResultArguments {
    /// The id that run_sub_session returned.
    #[schemars(length(min = 1, max = 200))]
    sub_session_id: SessionId,
    /// Seconds to wait while it is running, 0 to 300.
    #[serde(default = "waiting::default_seconds")]
    wait_if_running: i64,
    /// Cancel it and everything it started, instead of waiting.
    #[serde(default)]
    cancel: bool,
    /// Also return its last messages.
    #[serde(default)]
    include_progress: bool,
}

#[async_trait]
impl TypedTool for GetSubSessionResult {
    type Arguments = GetSubSessionResultArguments;

    fn spec() -> ToolSpec {
        ToolSpec::new(
            "get_sub_session_result",
            "Fetch the answer of a sub-session that run_sub_session started, wait for it, check \
             its progress, or cancel it.",
        )
        .summary("waits for a sub-session, returns its response, shows its progress, or cancels it")
        .requires_sign_in()
        .budget(TimeBudget::Own)
        .effect(ToolEffect::Idempotent)
        .labels(ToolLabels::new(
            "Sub-session",
            ToolIcon::Split,
            "Waiting for the result",
            "Checked the result",
        ))
    }

    async fn call(
        &self,
        arguments: GetSubSessionResultArguments,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        let GetSubSessionResultArguments {
            sub_session_id,
            wait_if_running,
            cancel,
            include_progress,
        } = arguments;
        let sub_sessions = context.services.sub_sessions;
        let look = async {
            // Read before the cancel: afterwards the turn may no longer be the current one.
            let current = sub_sessions.current(&sub_session_id).await?;
            let at_most = if cancel {
                sub_sessions.cancel(&sub_session_id).await?;
                Duration::ZERO
            } else {
                waiting::clamped(wait_if_running, self.max_wait)
            };
            let view = sub_sessions.wait(&current, at_most).await?;
            let progress = match include_progress {
                true => Some(sub_sessions.progress(&sub_session_id).await?),
                false => None,
            };
            Ok(sub_session::status(&sub_session_id, view, progress))
        };
        waiting::unless_cancelled(&context.cancel, look).await
    }

    fn examples() -> Vec<ToolExample> {
        vec![ToolExample {
            arguments: json!({"sub_session_id": "no-such-session", "wait_if_running": 0}),
            response: "error",
        }]
    }
}
