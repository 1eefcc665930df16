//! `delete_workspace_file`: deletes a file from the session's workspace.

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
    ToolDefinition::new(|services| Some(DeleteWorkspaceFile { files: services.files.clone() }))
}

struct DeleteWorkspaceFile {
    files: Arc<dyn Files>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DeleteWorkspaceFileArguments {
    /// The file's id; give this or path.
    file_id: Option<String>,
    /// The file's path in the workspace; give this or file_id.
    path: Option<String>,
}

#[async_trait]
impl TypedTool for DeleteWorkspaceFile {
    type Arguments = DeleteWorkspaceFileArguments;

    fn spec() -> ToolSpec {
        ToolSpec::new(
            "delete_workspace_file",
            "Delete a file from this session's workspace. This cannot be undone.",
        )
        .summary("deletes a file of the workspace")
        .requires_sign_in()
        .effect(ToolEffect::Idempotent)
        .labels(
            ToolLabels::new("Workspace", ToolIcon::FileX, "Deleting", "Deleted")
                .object(&["path", "file_id"]),
        )
    }

    async fn call(
        &self,
        arguments: DeleteWorkspaceFileArguments,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        let DeleteWorkspaceFileArguments { file_id, path } = arguments;
        let (wanted, workspace) =
            (workspace::one_file(file_id, path)?, workspace::session_workspace(&context));
        // A dry run reads the file's metadata, so that it fails where the real call would.
        let found = match context.dry_run {
            true => self.files.stat(&workspace, &wanted).await,
            false => self.files.delete(&workspace, &wanted).await,
        };
        let path = found?.map_err(|refused| workspace::refusal(refused, &wanted))?.path;
        let message = match context.dry_run {
            true => format!("Dry run: {path} would have been deleted. It was not."),
            false => format!("Deleted {path}."),
        };
        Ok(ToolResponse::new(message, ResponseBody::WorkspaceFileDeleted { path }))
    }

    fn examples() -> Vec<ToolExample> {
        vec![
            ToolExample { arguments: json!({"path": "there/is/no/such.file"}), response: "error" },
            ToolExample { arguments: json!({}), response: "error" },
        ]
    }
}
