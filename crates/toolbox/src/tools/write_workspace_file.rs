//! `write_workspace_file`: writes a file to the session's workspace, from text or base64.

use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use ports::Files;
use ports::files::{FileRef, FileRefusal, FileWritten, SessionWorkspace};
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::response::{ResponseBody, ToolResponse, WorkspaceFile};
use protocol::tool::{ToolEffect, ToolSpec};
use protocol::tool_labels::{ToolIcon, ToolLabels};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::tools::{ToolDefinition, TypedTool, workspace};

pub(crate) fn tool() -> ToolDefinition {
    ToolDefinition::new(|services| Some(WriteWorkspaceFile { files: services.files.clone() }))
}

struct WriteWorkspaceFile {
    files: Arc<dyn Files>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WriteWorkspaceFileArguments {
    /// The file's name, such as "report.md".
    #[schemars(length(min = 1, max = 255))]
    filename: String,
    /// The text of the file; give this or content_base64.
    content: Option<String>,
    /// The bytes of the file in base64; give this or content.
    content_base64: Option<String>,
    /// The full path, to put the file in a folder: "notes/report.md".
    path: Option<String>,
    /// Replace an existing file.
    #[serde(default)]
    overwrite: bool,
}

impl WriteWorkspaceFile {
    async fn write(
        &self,
        workspace: &SessionWorkspace,
        path: &str,
        content: Bytes,
        overwrite: bool,
    ) -> Result<FileWritten, ToolError> {
        let written = self.files.write(workspace, path, content.clone(), overwrite).await;
        let file = FileRef::Path(path.to_owned());
        match written? {
            Ok(written) => Ok(written),
            // The call may be a repetition after a crash; then the existing file is its own.
            Err(FileRefusal::Exists) => match self.identical(workspace, &file, &content).await? {
                Some(file) => Ok(FileWritten { file, created: false }),
                None => Err(workspace::refusal(FileRefusal::Exists, &file)),
            },
            Err(refused) => Err(workspace::refusal(refused, &file)),
        }
    }

    /// The existing file, if this is exactly its content.
    async fn identical(
        &self,
        workspace: &SessionWorkspace,
        file: &FileRef,
        content: &Bytes,
    ) -> Result<Option<WorkspaceFile>, ToolError> {
        let found = self.files.read(workspace, file, 0, content.len() + 1).await;
        match found? {
            Ok((file, bytes)) if bytes == *content => Ok(Some(file)),
            _ => Ok(None),
        }
    }
}

#[async_trait]
impl TypedTool for WriteWorkspaceFile {
    type Arguments = WriteWorkspaceFileArguments;

    fn spec() -> ToolSpec {
        ToolSpec::new(
            "write_workspace_file",
            "Write a file to this session's workspace, where the user and shell commands can use \
             it.",
        )
        .summary("writes a file into the workspace")
        .requires_sign_in()
        .effect(ToolEffect::Idempotent)
        .labels(
            ToolLabels::new("Workspace", ToolIcon::FilePen, "Writing", "Wrote")
                .object(&["path", "filename"]),
        )
    }

    async fn call(
        &self,
        arguments: WriteWorkspaceFileArguments,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        let content = content(arguments.content, arguments.content_base64)?;
        let path = arguments.path.filter(|path| !path.is_empty()).unwrap_or(arguments.filename);
        let path = workspace::relative(&path);
        if context.dry_run {
            return Ok(simulated(path, content.len()));
        }
        let size = content.len();
        let FileWritten { file, created } = self
            .write(&workspace::session_workspace(&context), path, content, arguments.overwrite)
            .await?;
        let message = format!("Wrote {size} bytes to {}.", file.path);
        Ok(ToolResponse::new(message, ResponseBody::WorkspaceFileWritten { file, created }))
    }

    fn examples() -> Vec<ToolExample> {
        vec![
            ToolExample {
                arguments: json!({"filename": "hello.txt", "content": "Hello", "overwrite": true}),
                response: "workspace_file_written",
            },
            ToolExample {
                arguments: json!({"filename": "dot.bin", "path": "data/dot.bin", "content_base64": "AAEC", "overwrite": true}),
                response: "workspace_file_written",
            },
            ToolExample { arguments: json!({"filename": "empty.txt"}), response: "error" },
            ToolExample {
                arguments: json!({"filename": "x", "path": "../x", "content": "out"}),
                response: "error",
            },
        ]
    }
}

fn content(text: Option<String>, base64: Option<String>) -> Result<Bytes, ToolError> {
    match (text, base64) {
        (Some(text), None) => Ok(Bytes::from(text)),
        (None, Some(base64)) => STANDARD.decode(base64.trim()).map(Bytes::from).map_err(|_| {
            ToolError::tell("invalid_arguments", "content_base64 is not valid base64.")
        }),
        _ => Err(ToolError::tell(
            "invalid_arguments",
            "Give either content or content_base64, not both.",
        )),
    }
}

fn simulated(path: &str, size: usize) -> ToolResponse {
    let file = WorkspaceFile {
        file_id: "dry-run".into(),
        path: path.to_owned(),
        name: path.rsplit('/').next().unwrap_or(path).to_owned(),
        mime_type: "application/octet-stream".into(),
        size_bytes: size as u64,
    };
    ToolResponse::new(
        format!("Dry run: {size} bytes would have been written to {path}. Nothing was written."),
        ResponseBody::WorkspaceFileWritten { file, created: false },
    )
}
