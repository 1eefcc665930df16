//! `todo_write`: shows the model's plan to the user and keeps it up to date.

use async_trait::async_trait;
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::response::{ResponseBody, TodoItem, TodoStatus, ToolResponse};
use protocol::tool::{ToolEffect, ToolSpec};
use protocol::tool_labels::{ToolIcon, ToolLabels};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::tools::{ToolDefinition, TypedTool};

pub(crate) fn tool() -> ToolDefinition {
    ToolDefinition::new(|_| Some(TodoWrite))
}

struct TodoWrite;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TodoWriteArguments {
    /// The complete list; it replaces the previous one.
    #[schemars(length(max = 50))]
    todos: Vec<TodoArgument>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TodoArgument {
    /// What to do, as an imperative: "Fetch the page".
    #[schemars(length(min = 1, max = 500))]
    content: String,
    /// Progress of the item.
    status: TodoStatusArgument,
    /// The same as an ongoing activity: "Fetching the page".
    #[serde(rename = "activeForm")]
    #[schemars(length(max = 500))]
    active_form: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TodoStatusArgument {
    Pending,
    InProgress,
    Completed,
}

#[async_trait]
impl TypedTool for TodoWrite {
    type Arguments = TodoWriteArguments;

    fn spec() -> ToolSpec {
        ToolSpec::new(
            "todo_write",
            "Show the user the plan for a multi-step task, and keep it up to date. Give the \
             complete list each time. At most one item may be in_progress.",
        )
        .summary("shows its plan and its progress")
        .effect(ToolEffect::Idempotent)
        .labels(ToolLabels::new(
            "Plan",
            ToolIcon::ListTodo,
            "Updating plan",
            "Updated plan",
        ))
    }

    async fn call(
        &self,
        arguments: TodoWriteArguments,
        _: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        let TodoWriteArguments { todos } = arguments;
        let todos: Vec<TodoItem> = todos.into_iter().map(TodoItem::from).collect();
        let count = |status| todos.iter().filter(|todo| todo.status == status).count();
        if count(TodoStatus::InProgress) > 1 {
            return Err(ToolError::tell(
                "several_in_progress",
                "Only one item may be in_progress. Mark the others pending or completed.",
            ));
        }
        let message =
            format!("{} of {} items completed.", count(TodoStatus::Completed), todos.len());
        Ok(ToolResponse::new(message, ResponseBody::TodoWrite { todos }))
    }

    fn examples() -> Vec<ToolExample> {
        vec![
            ToolExample {
                arguments: json!({"todos": [
                    {"content": "Fetch the page", "status": "completed"},
                    {"content": "Write the summary", "status": "in_progress", "activeForm": "Writing the summary"},
                    {"content": "Save it", "status": "pending"},
                ]}),
                response: "todo_write",
            },
            ToolExample {
                arguments: json!({"todos": [
                    {"content": "One", "status": "in_progress"},
                    {"content": "Two", "status": "in_progress"},
                ]}),
                response: "error",
            },
        ]
    }
}

impl From<TodoArgument> for TodoItem {
    fn from(item: TodoArgument) -> Self {
        let status = match item.status {
            TodoStatusArgument::Pending => TodoStatus::Pending,
            TodoStatusArgument::InProgress => TodoStatus::InProgress,
            TodoStatusArgument::Completed => TodoStatus::Completed,
        };
        Self { content: item.content, status, active_form: item.active_form }
    }
}
