//! Shared by the workspace tools: the session's workspace, file references and error messages.

use ports::files::{FileRef, FileRefusal, SessionWorkspace};
use ports::tool::{ToolContext, ToolError};

pub(crate) fn session_workspace(context: &ToolContext) -> SessionWorkspace {
    SessionWorkspace { owner: context.owner.clone(), session: context.session_id.clone() }
}

/// The path inside the workspace. Shell commands see the workspace as `/workspace`, so models use that prefix here too.
pub(crate) fn relative(path: &str) -> &str {
    path.strip_prefix("/workspace/").or_else(|| path.strip_prefix("./")).unwrap_or(path)
}

/// The file named by exactly one of the two arguments.
pub(crate) fn one_file(
    file_id: Option<String>,
    path: Option<String>,
) -> Result<FileRef, ToolError> {
    match (file_id.filter(|id| !id.is_empty()), path.filter(|path| !path.is_empty())) {
        (Some(id), None) => Ok(FileRef::Id(id)),
        (None, Some(path)) => Ok(FileRef::Path(relative(&path).to_owned())),
        _ => Err(ToolError::tell("invalid_arguments", "Give either file_id or path, not both.")),
    }
}

pub(crate) fn refusal(refused: FileRefusal, file: &FileRef) -> ToolError {
    let (FileRef::Id(name) | FileRef::Path(name)) = file;
    match refused {
        FileRefusal::NotFound => ToolError::tell(
            "file_not_found",
            format!("File not found: {name}. Use list_workspace_files to see the files."),
        ),
        FileRefusal::BadPath => ToolError::tell(
            "bad_path",
            "That path is outside the workspace or not a file. Use a relative path such as notes/plan.md.",
        ),
        FileRefusal::Exists => ToolError::tell(
            "file_exists",
            format!("{name} already exists. Set overwrite to replace it, or choose another path."),
        ),
        FileRefusal::TooLarge { limit } => ToolError::tell(
            "too_large",
            format!(
                "Not enough space: the limit is {limit} bytes. Write less, or delete files first."
            ),
        ),
    }
}
