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
    async fn list(&self, place: &Place, prefix: &str, limit: usize) -> PortResult<Listing>;
    /// Finds by id or by path.
    async fn stat(
        &self,
        place: &Place,
        file: &FileRef,
    ) -> PortResult<Result<WorkspaceFile, Refused>>;
    /// At most `length` bytes from `offset`.
    async fn read(
        &self,
        place: &Place,
        file: &FileRef,
        offset: u64,
        length: usize,
    ) -> PortResult<Result<(WorkspaceFile, Bytes), Refused>>;
    /// The whole file, piece by piece, from the one it is now.
    async fn open(
        &self,
        place: &Place,
        file: &FileRef,
    ) -> PortResult<Result<(WorkspaceFile, Pieces), Refused>>;
    async fn write(
        &self,
        place: &Place,
        path: &str,
        content: Bytes,
        overwrite: bool,
    ) -> PortResult<Result<Written, Refused>>;
    async fn delete(
        &self,
        place: &Place,
        file: &FileRef,
    ) -> PortResult<Result<WorkspaceFile, Refused>>;
    /// Removes everything a session kept.
    async fn delete_session(&self, place: &Place) -> PortResult<()>;
    /// The folder on this machine, for a sandboxed shell to work in; made if it is not there.
    async fn folder(&self, place: &Place) -> PortResult<std::path::PathBuf>;
}

/// What is in a file, never as a whole in memory.
pub type Pieces = BoxStream<'static, std::io::Result<Bytes>>;

/// Whose files, of which session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    pub owner: Owner,
    pub session: SessionId,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileRef {
    Id(String),
    Path(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Listing {
    pub files: Vec<WorkspaceFile>,
    pub total: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    pub file: WorkspaceFile,
    pub created: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    NotFound,
    /// The path is empty, too long, leads outside, or names something that is not a plain file.
    BadPath,
    Exists,
    /// Over the size of a file or of the workspace.
    TooLarge {
        limit: u64,
    },
}
