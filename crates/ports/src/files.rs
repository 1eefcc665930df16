//! A user's workspace files. Paths are relative to the session's own folder, with `/` between parts.

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use protocol::SessionId;
use protocol::response::WorkspaceFile;
use protocol::session::Owner;

use crate::error::PortResult;

/// Laws: a file is seen by its session only (`a_session_sees_only_its_own_files`); no path leads out of
/// the folder, not through `..`, absolute names or links (`no_path_leads_out_of_the_workspace`); a file
/// that exists is replaced only when asked (`an_existing_file_needs_overwrite`); a write is whole or not
/// there (`a_write_is_whole_or_absent`); a file that is opened is given as it was, even if it is replaced or removed
/// meanwhile (`an_open_file_is_one_version`). The caller has checked that the session belongs to the owner.
#[async_trait]
pub trait Files: Send + Sync {
    async fn list(
        &self,
        place: &SessionWorkspace,
        prefix: &str,
        limit: usize,
    ) -> PortResult<FileList>;
    /// Finds by id or by path.
    async fn stat(
        &self,
        place: &SessionWorkspace,
        file: &FileRef,
    ) -> PortResult<Result<WorkspaceFile, FileRefusal>>;
    /// At most `length` bytes from `offset`.
    async fn read(
        &self,
        place: &SessionWorkspace,
        file: &FileRef,
        offset: u64,
        length: usize,
    ) -> PortResult<Result<(WorkspaceFile, Bytes), FileRefusal>>;
    /// The whole file, piece by piece, from the one it is now.
    async fn open(
        &self,
        place: &SessionWorkspace,
        file: &FileRef,
    ) -> PortResult<Result<(WorkspaceFile, FileStream), FileRefusal>>;
    async fn write(
        &self,
        place: &SessionWorkspace,
        path: &str,
        content: Bytes,
        overwrite: bool,
    ) -> PortResult<Result<FileWritten, FileRefusal>>;
    async fn delete(
        &self,
        place: &SessionWorkspace,
        file: &FileRef,
    ) -> PortResult<Result<WorkspaceFile, FileRefusal>>;
    /// Removes everything a session kept.
    async fn delete_session(&self, place: &SessionWorkspace) -> PortResult<()>;
    /// The folder on this machine, for a sandboxed shell to work in; made if it is not there.
    async fn folder(&self, place: &SessionWorkspace) -> PortResult<std::path::PathBuf>;
}

/// What is in a file, never as a whole in memory.
pub type FileStream = BoxStream<'static, std::io::Result<Bytes>>;

/// Whose files, of which session.
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
    /// The path is empty, too long, leads outside, or names something that is not a plain file.
    BadPath,
    Exists,
    /// Over the size of a file or of the workspace.
    TooLarge {
        limit: u64,
    },
}
