//! `get_sub_session_result`: status of a sub-session, and its answer when there is one.

use std::time::Duration;

use async_trait::async_trait;
use ports::Tool;
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::SessionId;
use protocol::limits::MAX_TOOL_WAIT;
use protocol::response::ToolResponse;
use protocol::tool::{TimeBudget, ToolEffect, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{arguments, sub_session, waiting};

pub(super) struct GetSubSessionResult {
    spec: ToolSpec,
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

impl GetSubSessionResult {
    pub(super) fn new(max_wait: Duration) -> Self {
        Self {
            spec: ToolSpec {
                name: "get_sub_session_result",
                description: "Fetch the answer of a sub-session that run_sub_session started, wait for it, check its \
                    progress, or cancel it.",
                parameters: arguments::schema::<GetSubSessionResultArguments>(),
                requires_auth: true,
                budget: TimeBudget::Own,
                effect: ToolEffect::Idempotent,
                long_running: false,
            },
            max_wait: max_wait.min(MAX_TOOL_WAIT),
        }
    }
}

#[async_trait]
impl Tool for GetSubSessionResult {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(
        &self,
        arguments: Value,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        let GetSubSessionResultArguments {
            sub_session_id,
            wait_if_running,
            cancel,
            include_progress,
        } = arguments::parse(arguments)?;
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

    fn examples(&self) -> Vec<ToolExample> {
        vec![ToolExample {
            arguments: json!({"sub_session_id": "no-such-session", "wait_if_running": 0}),
            response: "error",
        }]
    }
}
