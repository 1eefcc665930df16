//! `bash_exec`: runs a shell command in the sandbox, on the session's workspace.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ports::Files;
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::limits::TOOL_BUDGET;
use protocol::response::{ResponseBody, ToolResponse};
use protocol::tool::ToolSpec;
use protocol::tool_labels::{ToolIcon, ToolLabels};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::sandbox::{
    CommandEnd, CommandOutput, MAX_PROCESSES, MAX_TIMEOUT, Sandbox, SandboxCommand,
};
use crate::tools::{ToolDefinition, TypedTool, workspace};

// The command's time limit is below the call's budget, so a command never becomes a background call.
const _: () = assert!(MAX_TIMEOUT.as_secs() < TOOL_BUDGET.as_secs());

pub(crate) fn tool() -> ToolDefinition {
    ToolDefinition::new(|services| {
        Some(BashExec { sandbox: services.sandbox.clone()?, files: services.files.clone() })
    })
}

struct BashExec {
    sandbox: Sandbox,
    files: Arc<dyn Files>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BashExecArguments {
    /// The command, as for bash -c.
    // The kernel limits the length of a single argument.
    #[schemars(length(min = 1, max = 30_000))]
    command: String,
    /// Time limit in seconds, 1 to 120.
    #[serde(default = "default_timeout")]
    timeout: i64,
}

fn default_timeout() -> i64 {
    120
}

#[async_trait]
impl TypedTool for BashExec {
    type Arguments = BashExecArguments;

    fn spec() -> ToolSpec {
        ToolSpec::new(
            "bash_exec",
            "Run a bash command in a sandbox without network. The session's workspace is the \
             current folder /workspace and the only place that persists; everything else is \
             read-only or discarded after the command. Limits: 120 seconds, 512 MB of memory, 64 \
             processes, 50 MB per file.",
        )
        .summary("runs a shell command in a sandbox; only where the sandbox works")
        .requires_sign_in()
        .labels(ToolLabels::new("Shell", ToolIcon::Terminal, "Running", "Ran").object(&["command"]))
    }

    async fn call(
        &self,
        arguments: BashExecArguments,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        let BashExecArguments { command, timeout } = arguments;
        if command.contains('\0') {
            return Err(ToolError::tell(
                "invalid_arguments",
                "The command contains a NUL character.",
            ));
        }
        if context.dry_run {
            return Ok(simulated());
        }
        let workspace = self.files.folder(&workspace::session_workspace(&context)).await?;
        let longest = i64::try_from(MAX_TIMEOUT.as_secs()).expect("a few minutes fit into an i64");
        let timeout = Duration::from_secs(timeout.clamp(1, longest).unsigned_abs());
        let job = SandboxCommand { command, workspace, timeout };
        let finished = self.sandbox.run(job, context.cancel).await.map_err(|error| {
            tracing::error!(%error, "could not start a sandboxed command");
            ToolError::tell("sandbox_failed", "The command could not be started.")
        })?;
        response(finished, timeout)
    }

    fn examples() -> Vec<ToolExample> {
        vec![
            ToolExample { arguments: json!({"command": "echo hello"}), response: "bash_exec" },
            ToolExample {
                arguments: json!({"command": "sleep 5", "timeout": 1}),
                response: "bash_exec",
            },
        ]
    }
}

fn response(finished: CommandOutput, timeout: Duration) -> Result<ToolResponse, ToolError> {
    let (message, exit_code) = match finished.end {
        CommandEnd::Exited(code) => (format!("Exit code {code}."), Some(code)),
        CommandEnd::TimedOut => {
            let seconds = timeout.as_secs();
            (format!("Timed out after {seconds} seconds; all its processes were stopped."), None)
        }
        CommandEnd::Cancelled => {
            return Err(ToolError::tell("cancelled", "The command was canceled."));
        }
        CommandEnd::TooManyProcesses => {
            let message = format!(
                "The command was stopped because it had more than {MAX_PROCESSES} processes."
            );
            return Err(ToolError::tell("too_many_processes", message));
        }
    };
    let CommandOutput { end, stdout, stderr } = finished;
    let timed_out = end == CommandEnd::TimedOut;
    Ok(ToolResponse::new(message, ResponseBody::BashExec { stdout, stderr, exit_code, timed_out }))
}

fn simulated() -> ToolResponse {
    ToolResponse::new(
        "Dry run: the command would have been run in the sandbox. It was not.",
        ResponseBody::BashExec {
            stdout: String::new(),
            stderr: String::new(),
            exit_code: None,
            timed_out: false,
        },
    )
}
