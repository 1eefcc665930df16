//! `run_sub_session`: delegates a task to another session of the same user.

use std::time::Duration;

use async_trait::async_trait;
use ports::call_services::NewSubSession;
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::limits::{MAX_TOOL_WAIT, MESSAGE_CHARS};
use protocol::permissions::CapabilityFilter;
use protocol::response::ToolResponse;
use protocol::tool::{TimeBudget, ToolEffect, ToolSpec};
use protocol::tool_labels::{ToolIcon, ToolLabels};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::tools::{ToolDefinition, TypedTool, sub_session, waiting};

pub(crate) fn tool() -> ToolDefinition {
    ToolDefinition::new(|services| {
        Some(RunSubSession { max_wait: services.max_wait.min(MAX_TOOL_WAIT) })
    })
}

struct RunSubSession {
    max_wait: Duration,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RunSubSessionArguments {
    /// The complete task, with all the information it needs.
    #[schemars(length(min = 1, max = MESSAGE_CHARS))]
    prompt: String,
    /// Instructions for all turns of a new sub-session.
    #[schemars(length(max = MESSAGE_CHARS))]
    system_context: Option<String>,
    /// A sub-session to continue, instead of a new one.
    #[schemars(length(max = 200))]
    sub_session_id: Option<String>,
    /// Same as sub_session_id.
    #[schemars(length(max = 200))]
    sub_autopilot_session_id: Option<String>,
    /// Seconds to wait for the answer, 0 to 300.
    #[serde(default = "waiting::default_seconds")]
    wait_for_result: i64,
    /// What the sub-session may use; never more than this session.
    #[serde(default)]
    permissions: CapabilityFilter,
}

#[async_trait]
impl TypedTool for RunSubSession {
    type Arguments = RunSubSessionArguments;

    fn spec() -> ToolSpec {
        ToolSpec::new(
            "run_sub_session",
            "Delegate a self-contained task to a sub-session, which works on it with its own \
             tools and context and answers in text. It sees nothing of this conversation. Call it \
             several times in one step to run tasks in parallel. If it takes longer than \
             wait_for_result, it continues, and get_sub_session_result fetches the answer.",
        )
        .summary("gives a task to a sub-session")
        .requires_sign_in()
        .budget(TimeBudget::Own)
        .effect(ToolEffect::Idempotent)
        .labels(ToolLabels::new("Sub-session", ToolIcon::Split, "", "").quoted_object(&["prompt"]))
    }

    async fn call(
        &self,
        arguments: RunSubSessionArguments,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        if arguments.prompt.trim().is_empty() {
            return Err(ToolError::tell("invalid_arguments", "The prompt is empty."));
        }
        let at_most = waiting::clamped(arguments.wait_for_result, self.max_wait);
        let new = NewSubSession {
            prompt: arguments.prompt,
            system_context: arguments.system_context.filter(|text| !text.trim().is_empty()),
            resume: sub_session::one_id(
                arguments.sub_session_id,
                arguments.sub_autopilot_session_id,
            )?,
            filter: arguments.permissions,
        };
        let (sub_sessions, reports) = (context.services.sub_sessions, context.services.reports);
        let work = async {
            let started = sub_sessions.start(new).await?;
            reports.show(&sub_session::just_started(&started));
            let view = sub_sessions.wait(&started, at_most).await?;
            Ok(sub_session::status(&started.session_id, view, None))
        };
        waiting::unless_cancelled(&context.cancel, work).await
    }

    fn examples() -> Vec<ToolExample> {
        vec![
            ToolExample {
                arguments: json!({
                    "prompt": "Say hello.",
                    "wait_for_result": 0,
                    "permissions": {"tools": ["bash_exec"]},
                }),
                response: "sub_session_status",
            },
            ToolExample { arguments: json!({"prompt": "  "}), response: "error" },
        ]
    }
}
