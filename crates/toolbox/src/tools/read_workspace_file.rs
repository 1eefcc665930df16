//! `read_workspace_file`: returns a file or a part of it, as text where possible, else as base64.

use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ports::Files;
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::response::{FileEncoding, ResponseBody, ToolResponse};
use protocol::tool::{ToolEffect, ToolSpec};
use protocol::tool_labels::{ToolIcon, ToolLabels};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::tools::{ToolDefinition, TypedTool, workspace};

/// Bytes in one response; the rest is read with further calls.
const INLINE_BYTES: usize = 32 * 1024;

pub(crate) fn tool() -> ToolDefinition {
    ToolDefinition::new(|services| Some(ReadWorkspaceFile { files: services.files.clone() }))
}

struct ReadWorkspaceFile {
    files: Arc<dyn Files>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadWorkspaceFileArguments {
    /// The file's id; give this or path.
    file_id: Option<String>,
    /// The file's path in the workspace; give this or file_id.
    path: Option<String>,
    /// The byte offset to start at.
    #[serde(default)]
    offset: u64,
    /// Number of bytes, at most 32768.
    #[schemars(range(min = 1))]
    length: Option<usize>,
}

#[async_trait]
impl TypedTool for ReadWorkspaceFile {
    type Arguments = ReadWorkspaceFileArguments;

    fn spec() -> ToolSpec {
        ToolSpec::new(
            "read_workspace_file",
            "Read a file from this session's workspace, up to 32 KB per call. Text is returned as \
             text, anything else as base64. For a longer file, continue with offset.",
        )
        .summary("reads a file, 32 KB at a time")
        .requires_sign_in()
        .effect(ToolEffect::None)
        .labels(
            ToolLabels::new("Workspace", ToolIcon::FileText, "Reading", "Read")
                .object(&["path", "file_id"]),
        )
    }

    async fn call(
        &self,
        arguments: ReadWorkspaceFileArguments,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        let ReadWorkspaceFileArguments { file_id, path, offset, length } = arguments;
        let wanted = workspace::one_file(file_id, path)?;
        let length = length.unwrap_or(INLINE_BYTES).clamp(1, INLINE_BYTES);
        let (file, bytes) = self
            .files
            .read(&workspace::session_workspace(&context), &wanted, offset, length)
            .await?
            .map_err(|refused| workspace::refusal(refused, &wanted))?;
        let more_follows = offset + (bytes.len() as u64) < file.size_bytes;
        let (content, encoding, taken) = match text_of(&bytes, more_follows) {
            Some(text) => (text.to_owned(), FileEncoding::Text, text.len()),
            None => (STANDARD.encode(&bytes), FileEncoding::Base64, bytes.len()),
        };
        let next = offset + taken as u64;
        let truncated = next < file.size_bytes;
        let message = if truncated {
            format!("Bytes {offset} to {next} of {}. Continue with offset {next}.", file.size_bytes)
        } else {
            format!("Bytes {offset} to {next} of {} (end of file).", file.size_bytes)
        };
        let body = ResponseBody::WorkspaceFileContent { file, content, encoding, truncated };
        Ok(ToolResponse::new(message, body))
    }

    fn examples() -> Vec<ToolExample> {
        vec![
            ToolExample { arguments: json!({"path": "there/is/no/such.file"}), response: "error" },
            ToolExample { arguments: json!({"path": "a", "file_id": "b"}), response: "error" },
        ]
    }
}

/// The bytes as text, if they are text. When more bytes follow, the last character may be incomplete; it is then left
/// for the next call.
fn text_of(bytes: &[u8], more_follows: bool) -> Option<&str> {
    if bytes.contains(&0) {
        return None;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) if more_follows && error.error_len().is_none() && error.valid_up_to() > 0 => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).ok()
        }
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::text_of;

    #[test]
    fn an_incomplete_character_is_left_for_the_next_call() {
        assert_eq!(text_of("aä".as_bytes(), false), Some("aä"));
        assert_eq!(text_of(&"aä".as_bytes()[..2], true), Some("a"));
        assert_eq!(text_of(&"aä".as_bytes()[..2], false), None);
        assert_eq!(text_of(b"a\xffb", true), None);
        assert_eq!(text_of(b"a\0b", false), None);
        assert_eq!(text_of(b"", false), Some(""));
    }
}
