//! `list_workspace_files`: lists the files in the session's workspace.

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

pub(super) struct ListWorkspaceFiles {
    spec: ToolSpec,
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

impl ListWorkspaceFiles {
    pub(super) fn new(files: Arc<dyn Files>) -> Self {
        Self {
            spec: ToolSpec {
                name: "list_workspace_files",
                description: "List the files in this session's workspace.",
                parameters: arguments::schema::<ListWorkspaceFilesArguments>(),
                requires_auth: true,
                budget: TimeBudget::Default,
                effect: ToolEffect::None,
                long_running: false,
            },
            files,
        }
    }
}

#[async_trait]
impl Tool for ListWorkspaceFiles {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(
        &self,
        arguments: Value,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        let ListWorkspaceFilesArguments { path_prefix, limit } = arguments::parse(arguments)?;
        let prefix = path_prefix.unwrap_or_default();
        let prefix = workspace::relative(&prefix);
        let listing = self
            .files
            .list(&workspace::session_workspace(&context), prefix, limit.clamp(1, 100))
            .await
            .map_err(workspace::storage)?;
        let message = match (listing.files.len(), listing.total) {
            (_, 0) => "No files found.".to_owned(),
            (shown, total) if shown < total => format!("{shown} of {total} files."),
            (_, total) => format!("{total} files."),
        };
        let body =
            ResponseBody::WorkspaceFileList { files: listing.files, total_count: listing.total };
        Ok(ToolResponse::new(message, body))
    }

    fn examples(&self) -> Vec<ToolExample> {
        vec![
            ToolExample { arguments: json!({}), response: "workspace_file_list" },
            ToolExample {
                arguments: json!({"path_prefix": "notes/", "limit": 10}),
                response: "workspace_file_list",
            },
        ]
    }
}
