//! `list_workspace_files`: lists the files in the session's workspace.

use std::sync::Arc;

use async_trait::async_trait;
use ports::Files;
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::response::{ResponseBody, ToolResponse};
use protocol::tool::{ToolEffect, ToolSpec};
use protocol::tool_labels::{ToolIcon, ToolLabels};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::tools::{ToolDefinition, TypedTool, workspace};

pub(crate) fn tool() -> ToolDefinition {
    ToolDefinition::new(|services| Some(ListWorkspaceFiles { files: services.files.clone() }))
}

struct ListWorkspaceFiles {
    files: Arc<dyn Files>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListWorkspaceFilesArguments {
    /// Only files whose path starts with this, such as "notes/".
    path_prefix: Option<String>,
    /// Maximum number of files.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: usize,
}

fn default_limit() -> usize {
    50
}

#[async_trait]
impl TypedTool for ListWorkspaceFiles {
    type Arguments = ListWorkspaceFilesArguments;

    fn spec() -> ToolSpec {
        ToolSpec::new("list_workspace_files", "List the files in this session's workspace.")
            .summary("lists the files of the workspace")
            .requires_sign_in()
            .effect(ToolEffect::None)
            .labels(
                ToolLabels::new("Workspace", ToolIcon::Files, "Listing files", "Listed files")
                    .object(&["path_prefix"]),
            )
    }

    async fn call(
        &self,
        arguments: ListWorkspaceFilesArguments,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        let ListWorkspaceFilesArguments { path_prefix, limit } = arguments;
        let prefix = path_prefix.unwrap_or_default();
        let prefix = workspace::relative(&prefix);
        let listing = self
            .files
            .list(&workspace::session_workspace(&context), prefix, limit.clamp(1, 100))
            .await?;
        let message = match (listing.files.len(), listing.total) {
            (_, 0) => "No files found.".to_owned(),
            (shown, total) if shown < total => format!("{shown} of {total} files."),
            (_, total) => format!("{total} files."),
        };
        let body =
            ResponseBody::WorkspaceFileList { files: listing.files, total_count: listing.total };
        Ok(ToolResponse::new(message, body))
    }

    fn examples() -> Vec<ToolExample> {
        vec![
            ToolExample { arguments: json!({}), response: "workspace_file_list" },
            ToolExample {
                arguments: json!({"path_prefix": "notes/", "limit": 10}),
                response: "workspace_file_list",
            },
        ]
    }
}
