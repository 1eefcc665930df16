//! `check_operation_status`: status of a long-running call.

use async_trait::async_trait;
use ports::Tool;
use ports::store::OperationKey;
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::operation::{Operation, OperationStatus};
use protocol::response::{ResponseBody, ToolResponse};
use protocol::tool::{TimeBudget, ToolEffect, ToolSpec};
use protocol::{OperationId, TaskId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{arguments, waiting};

pub(super) struct CheckOperationStatus {
    spec: ToolSpec,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CheckOperationStatusArguments {
    /// The operation's id; give this or task_id.
    #[schemars(length(max = 200))]
    operation_id: Option<String>,
    /// The id of its stream; give this or operation_id.
    #[schemars(length(max = 200))]
    task_id: Option<String>,
}

impl CheckOperationStatus {
    pub(super) fn new() -> Self {
        Self {
            spec: ToolSpec {
                name: "check_operation_status",
                description: "Check whether a long-running call (its result had the type operation_started) has \
                    finished. Use it when the user asks; the conversation continues automatically when the result \
                    arrives, so do not poll.",
                parameters: arguments::schema::<CheckOperationStatusArguments>(),
                requires_auth: false,
                budget: TimeBudget::Own,
                effect: ToolEffect::None,
                long_running: false,
            },
        }
    }
}

#[async_trait]
impl Tool for CheckOperationStatus {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(
        &self,
        arguments: Value,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        let CheckOperationStatusArguments { operation_id, task_id } = arguments::parse(arguments)?;
        let given = |id: Option<String>| id.filter(|id| !id.trim().is_empty());
        let which = match (given(operation_id), given(task_id)) {
            (Some(id), _) => OperationKey::Operation(OperationId(id)),
            (None, Some(id)) => OperationKey::Task(TaskId(id)),
            (None, None) => {
                let what = "Give operation_id or task_id.";
                return Err(ToolError::tell("invalid_arguments", what));
            }
        };
        let lookup = context.services.operations.get(&which);
        let found = waiting::unless_cancelled(&context.cancel, lookup).await?;
        Ok(found.map_or_else(|| not_found(which), status))
    }

    fn examples(&self) -> Vec<ToolExample> {
        vec![
            ToolExample {
                arguments: json!({"operation_id": "no-such-operation"}),
                response: "operation_status",
            },
            ToolExample { arguments: json!({}), response: "error" },
        ]
    }
}

fn status(operation: Operation) -> ToolResponse {
    let status = operation.status();
    let tool = operation.call.name;
    let message = match status {
        OperationStatus::Completed => format!("{tool} has finished; output is its result."),
        OperationStatus::Failed => format!("{tool} has failed; output has the reason."),
        _ => {
            format!("{tool} is running. The conversation continues automatically when it finishes.")
        }
    };
    // Tools return JSON; results from external services may be plain text.
    let output = operation
        .result
        .map(|result| serde_json::from_str(&result.output).unwrap_or(Value::String(result.output)));
    ToolResponse::new(
        message,
        ResponseBody::OperationStatus {
            status,
            task_id: Some(operation.task_id),
            operation_id: Some(operation.id),
            tool_name: Some(tool),
            output,
        },
    )
}

fn not_found(which: OperationKey) -> ToolResponse {
    let (operation_id, task_id) = match which {
        OperationKey::Operation(id) => (Some(id), None),
        OperationKey::Task(id) => (None, Some(id)),
    };
    ToolResponse::new(
        "Operation not found. It may have finished long ago and expired; its result is in the history.",
        ResponseBody::OperationStatus {
            status: OperationStatus::NotFound,
            task_id,
            operation_id,
            tool_name: None,
            output: None,
        },
    )
}
