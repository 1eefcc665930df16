//! `check_operation_status`: status of a long-running call.

use async_trait::async_trait;
use ports::store::OperationKey;
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::operation::{Operation, OperationStatus};
use protocol::response::{ResponseBody, ToolResponse};
use protocol::tool::{TimeBudget, ToolEffect, ToolSpec};
use protocol::tool_labels::{ToolIcon, ToolLabels};
use protocol::{OperationId, TaskId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tools::{ToolDefinition, TypedTool, waiting};

pub(crate) fn tool() -> ToolDefinition {
    ToolDefinition::new(|_| Some(CheckOperationStatus))
}

struct CheckOperationStatus;

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

#[async_trait]
impl TypedTool for CheckOperationStatus {
    type Arguments = CheckOperationStatusArguments;

    fn spec() -> ToolSpec {
        ToolSpec::new(
            "check_operation_status",
            "Check whether a long-running call (its result had the type operation_started) has \
             finished. Use it when the user asks; the conversation continues automatically when \
             the result arrives, so do not poll.",
        )
        .summary("returns the status of an operation")
        .budget(TimeBudget::Own)
        .effect(ToolEffect::None)
        .labels(ToolLabels::new(
            "Status",
            ToolIcon::Hourglass,
            "Checking operation status",
            "Checked operation status",
        ))
    }

    async fn call(
        &self,
        arguments: CheckOperationStatusArguments,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        let CheckOperationStatusArguments { operation_id, task_id } = arguments;
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

    fn examples() -> Vec<ToolExample> {
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
