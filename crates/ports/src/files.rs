//! The workspace files of sessions. Paths are relative to the session's folder, with `/` as separator.

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use protocol::SessionId;
use protocol::response::WorkspaceFile;
use protocol::session::Owner;

use crate::error::PortResult;

/// Laws: a file is visible to its session only (`a_session_sees_only_its_own_files`); no path leads out of the folder,
/// not through `..`, absolute names or links (`no_path_escapes_the_workspace`); an existing file is replaced only on
/// request (`an_existing_file_needs_overwrite`); a write is complete or absent (`a_file_write_is_atomic`); an opened
/// file keeps its content even if it is replaced or removed meanwhile (`an_open_file_is_read_as_one_version`). The
/// caller has checked that the session belongs to the owner.
#[async_trait]
pub trait Files: Send + Sync {
    async fn list(
        &self,
        workspace: &SessionWorkspace,
        prefix: &str,
        limit: usize,
    ) -> PortResult<FileList>;
    /// Finds a file by id or path.
    async fn stat(
        &self,
        workspace: &SessionWorkspace,
        file: &FileRef,
    ) -> PortResult<Result<WorkspaceFile, FileRefusal>>;
    /// At most `length` bytes from `offset`.
    async fn read(
        &self,
        workspace: &SessionWorkspace,
        file: &FileRef,
        offset: u64,
        length: usize,
    ) -> PortResult<Result<(WorkspaceFile, Bytes), FileRefusal>>;
    /// The current version of the file as a stream.
    async fn open(
        &self,
        workspace: &SessionWorkspace,
        file: &FileRef,
    ) -> PortResult<Result<(WorkspaceFile, FileStream), FileRefusal>>;
    async fn write(
        &self,
        workspace: &SessionWorkspace,
        path: &str,
        content: Bytes,
        overwrite: bool,
    ) -> PortResult<Result<FileWritten, FileRefusal>>;
    async fn delete(
        &self,
        workspace: &SessionWorkspace,
        file: &FileRef,
    ) -> PortResult<Result<WorkspaceFile, FileRefusal>>;
    /// Removes all files of a session.
    async fn delete_session(&self, workspace: &SessionWorkspace) -> PortResult<()>;
    /// The folder on this machine, for a sandboxed shell; created if missing.
    async fn folder(&self, workspace: &SessionWorkspace) -> PortResult<std::path::PathBuf>;
}

/// The content of a file, never completely in memory.
pub type FileStream = BoxStream<'static, std::io::Result<Bytes>>;

/// The workspace of a session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SessionWorkspace {
    pub owner: Owner,
    pub session: SessionId,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileRef {
    Id(String),
    Path(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct FileList {
    pub files: Vec<WorkspaceFile>,
    pub total: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct FileWritten {
    pub file: WorkspaceFile,
    pub created: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileRefusal {
    NotFound,
    /// The path is empty, too long, leads outside, or is not a regular file.
    BadPath,
    Exists,
    /// Exceeds the size limit of a file or of the workspace.
    TooLarge {
        limit: u64,
    },
}
