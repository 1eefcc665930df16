//! `check_background_tool`: waits for, lists or cancels calls that continue after their time budget.

use std::time::Duration;

use async_trait::async_trait;
use ports::call_services::{BackgroundCalls, BackgroundView};
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::BackgroundId;
use protocol::limits::BACKGROUND_WAIT;
use protocol::response::{BackgroundStatus, ResponseBody, ToolResponse};
use protocol::tool::{TimeBudget, ToolEffect, ToolSpec};
use protocol::tool_labels::{ToolIcon, ToolLabels};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::tools::{ToolDefinition, TypedTool, waiting};

pub(crate) fn tool() -> ToolDefinition {
    ToolDefinition::new(|_| Some(CheckBackgroundTool))
}

struct CheckBackgroundTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CheckBackgroundToolArguments {
    /// List all background calls.
    #[serde(default)]
    list: bool,
    /// The id of one call, such as bg-0123456789ab.
    #[schemars(length(max = 100))]
    background_id: Option<String>,
    /// Seconds to wait for its result, 0 to 540.
    #[serde(default = "waiting::default_seconds")]
    wait_seconds: i64,
    /// Cancel it instead of waiting.
    #[serde(default)]
    cancel: bool,
}

#[async_trait]
impl TypedTool for CheckBackgroundTool {
    type Arguments = CheckBackgroundToolArguments;

    fn spec() -> ToolSpec {
        ToolSpec::new(
            "check_background_tool",
            "Wait for a tool call that continues in the background (its result had the type \
             background), fetch its result, cancel it, or list all such calls. A result is \
             returned once.",
        )
        .summary("waits for a background call, returns its result, or cancels it")
        .requires_sign_in()
        .budget(TimeBudget::Own)
        .effect(ToolEffect::Idempotent)
        .labels(ToolLabels::new(
            "Status",
            ToolIcon::FolderClock,
            "Checking background task",
            "Checked background task",
        ))
    }

    async fn call(
        &self,
        arguments: CheckBackgroundToolArguments,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        let CheckBackgroundToolArguments { list, background_id, wait_seconds, cancel } = arguments;
        let calls = &*context.services.background;
        if list {
            return Ok(listed(calls));
        }
        let Some(id) = background_id.filter(|id| !id.trim().is_empty()).map(BackgroundId) else {
            let what = "Give a background_id, or set list to true.";
            return Err(ToolError::tell("invalid_arguments", what));
        };
        let started = Instant::now();
        let look = async {
            Ok(match (cancel, context.dry_run) {
                (false, _) => {
                    calls.wait(&id, waiting::clamped(wait_seconds, BACKGROUND_WAIT)).await
                }
                (true, false) => calls.cancel(&id).await,
                // A call that has finished by now returns its real result, as it would without dry run.
                (true, true) => calls.wait(&id, Duration::ZERO).await,
            })
        };
        let found = waiting::unless_cancelled(&context.cancel, look).await?;
        let view = found.ok_or_else(|| not_found(&id))?;
        if cancel && context.dry_run && view.status == BackgroundStatus::StillRunning {
            return Ok(simulated_cancel(id, view.tool));
        }
        Ok(status(id, view, started.elapsed()))
    }

    fn examples() -> Vec<ToolExample> {
        vec![
            ToolExample { arguments: json!({"list": true}), response: "background_tool_list" },
            ToolExample {
                arguments: json!({"background_id": "bg-000000000000"}),
                response: "error",
            },
            ToolExample { arguments: json!({}), response: "error" },
        ]
    }
}

fn listed(calls: &dyn BackgroundCalls) -> ToolResponse {
    let tools = calls.list();
    let count = tools.len();
    let message = format!("{count} background calls.");
    ToolResponse::new(message, ResponseBody::BackgroundToolList { tools, count })
}

fn status(background_id: BackgroundId, view: BackgroundView, waited: Duration) -> ToolResponse {
    let BackgroundView { tool, status, output } = view;
    let status = match output.as_ref() {
        Some(output) if status == BackgroundStatus::Completed && is_failure(output) => {
            BackgroundStatus::Error
        }
        _ => status,
    };
    let message = match status {
        BackgroundStatus::Completed => format!("{tool} has finished; output is its result."),
        BackgroundStatus::Error => format!("{tool} has failed; output has the reason."),
        BackgroundStatus::Cancelled => format!("{tool} was canceled."),
        BackgroundStatus::StillRunning => {
            format!("{tool} is still running. Do something else in the meantime, or wait again.")
        }
    };
    let waited_seconds = (status == BackgroundStatus::StillRunning).then_some(waited.as_secs());
    let body =
        ResponseBody::BackgroundToolStatus { background_id, tool, status, waited_seconds, output };
    ToolResponse::new(message, body)
}

fn simulated_cancel(background_id: BackgroundId, tool: String) -> ToolResponse {
    let message = format!("Dry run: {tool} would have been canceled. It was not.");
    let status = BackgroundStatus::Cancelled;
    let body = ResponseBody::BackgroundToolStatus {
        background_id,
        tool,
        status,
        waited_seconds: None,
        output: None,
    };
    ToolResponse::new(message, body)
}

/// A call without a tool error may still return a failure.
fn is_failure(output: &Value) -> bool {
    matches!(output["type"].as_str(), Some("error" | "need_login")) || output["success"] == false
}

fn not_found(id: &BackgroundId) -> ToolError {
    let message = format!(
        "Background call not found: {id}. A result is returned once, and background calls end with the turn that \
        made them. Set list to true to see the current ones."
    );
    ToolError::tell("background_not_found", message)
}
