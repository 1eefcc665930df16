//! `delete_workspace_file`: deletes a file from the session's workspace.

use std::sync::Arc;

use async_trait::async_trait;
use ports::tool::{ToolContext, ToolError, ToolExample};
use ports::{Files, Tool};
use protocol::response::{ResponseBody, ToolResponse};
use protocol::tool::{TimeBudget, ToolEffect, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{arguments, workspace};

pub(super) struct DeleteWorkspaceFile {
    spec: ToolSpec,
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

impl DeleteWorkspaceFile {
    pub(super) fn new(files: Arc<dyn Files>) -> Self {
        Self {
            spec: ToolSpec {
                name: "delete_workspace_file",
                description: "Delete a file from this session's workspace. This cannot be undone.",
                parameters: arguments::schema::<DeleteWorkspaceFileArguments>(),
                requires_auth: true,
                budget: TimeBudget::Default,
                effect: ToolEffect::Idempotent,
                long_running: false,
            },
            files,
        }
    }
}

#[async_trait]
impl Tool for DeleteWorkspaceFile {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(
        &self,
        arguments: Value,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        let DeleteWorkspaceFileArguments { file_id, path } = arguments::parse(arguments)?;
        let (wanted, workspace) =
            (workspace::one_file(file_id, path)?, workspace::session_workspace(&context));
        // A dry run reads the file's metadata, so that it fails where the real call would.
        let found = match context.dry_run {
            true => self.files.stat(&workspace, &wanted).await,
            false => self.files.delete(&workspace, &wanted).await,
        };
        let path = found
            .map_err(workspace::storage)?
            .map_err(|refused| workspace::refusal(refused, &wanted))?
            .path;
        let message = match context.dry_run {
            true => format!("Dry run: {path} would have been deleted. It was not."),
            false => format!("Deleted {path}."),
        };
        Ok(ToolResponse::new(message, ResponseBody::WorkspaceFileDeleted { path }))
    }

    fn examples(&self) -> Vec<ToolExample> {
        vec![
            ToolExample { arguments: json!({"path": "there/is/no/such.file"}), response: "error" },
            ToolExample { arguments: json!({}), response: "error" },
        ]
    }
}
