//! Workspace files in folders of this machine, one per session. Every access goes through a directory handle that
//! cannot leave the folder, because a shell may have created any links in it.

mod incoming;
mod mime;
mod names;
mod walk;
mod write;

use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, OpenOptions, OpenOptionsExt};
use futures::StreamExt;
use ports::files::{
    FileList, FileRef, FileRefusal, FileStream, FileWritten, Files, SessionWorkspace,
};
use ports::{PortError, PortResult};
use protocol::response::WorkspaceFile;
use rustix::fs::OFlags;
use rustix::io::Errno;
use tokio_util::io::ReaderStream;

use self::names::{folder_name, path_of};

/// Lock stripes: writes to one session are serialized, so that two of them cannot both use the last free space.
const STRIPES: usize = 16;
/// Chunk size of streamed reads.
const PIECE: usize = 64 * 1024;

#[derive(Clone)]
pub(crate) struct LocalFiles {
    inner: Arc<LocalFilesInner>,
}

struct LocalFilesInner {
    root: PathBuf,
    sessions: Dir,
    /// Folder for files being written; a shell in a workspace never sees a partial file.
    incoming: Dir,
    writing: [Mutex<()>; STRIPES],
}

/// Result of a file operation: a value, a refusal, or an I/O error.
type FileResult<T> = io::Result<Result<T, FileRefusal>>;

impl LocalFiles {
    pub(crate) async fn open(root: PathBuf) -> io::Result<Self> {
        tokio::task::spawn_blocking(move || {
            Dir::create_ambient_dir_all(&root, ambient_authority())?;
            let sessions = Dir::open_ambient_dir(&root, ambient_authority())?;
            let incoming = incoming::open(&sessions)?;
            let inner = LocalFilesInner { root, sessions, incoming, writing: Default::default() };
            Ok(Self { inner: Arc::new(inner) })
        })
        .await
        .map_err(io::Error::other)?
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&LocalFilesInner) -> io::Result<T> + Send + 'static,
    ) -> PortResult<T> {
        let inner = self.inner.clone();
        tokio::task::spawn_blocking(move || work(&inner))
            .await
            .map_err(|_| PortError::Broken("a file operation panicked".into()))?
            .map_err(|error| match error.kind() {
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded => PortError::Full,
                _ => PortError::Unavailable(format!("the workspace: {error}")),
            })
    }
}

#[async_trait]
impl Files for LocalFiles {
    async fn list(
        &self,
        session_workspace: &SessionWorkspace,
        prefix: &str,
        limit: usize,
    ) -> PortResult<FileList> {
        let (session_workspace, prefix) = (session_workspace.clone(), prefix.to_owned());
        self.blocking(move |inner| {
            let mut files = match inner.workspace(&session_workspace)? {
                Some(workspace) => walk::files(&workspace, &session_workspace)?,
                None => Vec::new(),
            };
            files.retain(|file| file.path.starts_with(&prefix));
            let total = files.len();
            files.truncate(limit);
            Ok(FileList { files, total })
        })
        .await
    }

    async fn stat(
        &self,
        session_workspace: &SessionWorkspace,
        file: &FileRef,
    ) -> PortResult<Result<WorkspaceFile, FileRefusal>> {
        let (session_workspace, file) = (session_workspace.clone(), file.clone());
        self.blocking(move |inner| {
            Ok(inner.open_file(&session_workspace, &file)?.map(|found| found.described))
        })
        .await
    }

    async fn read(
        &self,
        session_workspace: &SessionWorkspace,
        file: &FileRef,
        offset: u64,
        length: usize,
    ) -> PortResult<Result<(WorkspaceFile, Bytes), FileRefusal>> {
        let (session_workspace, file) = (session_workspace.clone(), file.clone());
        self.blocking(move |inner| {
            let mut found = match inner.open_file(&session_workspace, &file)? {
                Ok(found) => found,
                Err(refused) => return Ok(Err(refused)),
            };
            found.file.seek(SeekFrom::Start(offset))?;
            let mut content = Vec::new();
            found.file.take(length as u64).read_to_end(&mut content)?;
            Ok(Ok((found.described, content.into())))
        })
        .await
    }

    async fn open(
        &self,
        session_workspace: &SessionWorkspace,
        file: &FileRef,
    ) -> PortResult<Result<(WorkspaceFile, FileStream), FileRefusal>> {
        let (session_workspace, file) = (session_workspace.clone(), file.clone());
        let opened = self.blocking(move |inner| inner.open_file(&session_workspace, &file)).await?;
        Ok(opened.map(|OpenFile { file, described, .. }| {
            let file = tokio::fs::File::from_std(file.into_std());
            (described, ReaderStream::with_capacity(file, PIECE).boxed())
        }))
    }

    async fn write(
        &self,
        session_workspace: &SessionWorkspace,
        path: &str,
        content: Bytes,
        overwrite: bool,
    ) -> PortResult<Result<FileWritten, FileRefusal>> {
        let (session_workspace, path) = (session_workspace.clone(), path.to_owned());
        self.blocking(move |inner| inner.write(&session_workspace, &path, &content, overwrite))
            .await
    }

    async fn delete(
        &self,
        session_workspace: &SessionWorkspace,
        file: &FileRef,
    ) -> PortResult<Result<WorkspaceFile, FileRefusal>> {
        let (session_workspace, file) = (session_workspace.clone(), file.clone());
        self.blocking(move |inner| {
            let found = match inner.open_file(&session_workspace, &file)? {
                Ok(found) => found,
                Err(refused) => return Ok(Err(refused)),
            };
            found.workspace.remove_file(&found.described.path)?;
            Ok(Ok(found.described))
        })
        .await
    }

    async fn delete_session(&self, session_workspace: &SessionWorkspace) -> PortResult<()> {
        let session_workspace = session_workspace.clone();
        self.blocking(move |inner| {
            match inner.sessions.remove_dir_all(folder_name(&session_workspace)) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            }
        })
        .await
    }

    async fn folder(&self, session_workspace: &SessionWorkspace) -> PortResult<PathBuf> {
        let session_workspace = session_workspace.clone();
        self.blocking(move |inner| {
            inner.make_workspace(&session_workspace)?;
            Ok(inner.root.join(folder_name(&session_workspace)))
        })
        .await
    }
}

/// An open file and its description.
struct OpenFile {
    workspace: Dir,
    file: File,
    described: WorkspaceFile,
}

impl LocalFilesInner {
    fn workspace(&self, session_workspace: &SessionWorkspace) -> io::Result<Option<Dir>> {
        match self.sessions.open_dir(folder_name(session_workspace)) {
            Ok(workspace) => Ok(Some(workspace)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn make_workspace(&self, session_workspace: &SessionWorkspace) -> io::Result<Dir> {
        self.sessions.create_dir_all(folder_name(session_workspace))?;
        self.sessions.open_dir(folder_name(session_workspace))
    }

    fn open_file(
        &self,
        session_workspace: &SessionWorkspace,
        file: &FileRef,
    ) -> FileResult<OpenFile> {
        let Some(workspace) = self.workspace(session_workspace)? else {
            return Ok(Err(FileRefusal::NotFound));
        };
        let path = match file {
            FileRef::Path(path) => match path_of(path) {
                Some(path) => path.to_owned(),
                None => return Ok(Err(FileRefusal::BadPath)),
            },
            FileRef::Id(id) => {
                let found = walk::files(&workspace, session_workspace)?
                    .into_iter()
                    .find(|f| f.file_id == *id);
                match found {
                    Some(file) => file.path,
                    None => return Ok(Err(FileRefusal::NotFound)),
                }
            }
        };
        match plain_file(&workspace, &path)? {
            Ok(()) => {}
            Err(refused) => return Ok(Err(refused)),
        }
        // It may have become a pipe since, and opening that would block forever.
        let opened = workspace.open_with(
            &path,
            OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits() as i32),
        );
        let file = match opened {
            Ok(file) => file,
            Err(error) => return refused(error).map(Err),
        };
        let size = file.metadata()?;
        if !size.is_file() {
            return Ok(Err(FileRefusal::BadPath));
        }
        let described = names::described(session_workspace, &path, size.len());
        Ok(Ok(OpenFile { workspace, file, described }))
    }
}

/// Whether there is a regular file with this name: no folder, no link, no pipe.
fn plain_file(workspace: &Dir, path: &str) -> FileResult<()> {
    match workspace.symlink_metadata(path) {
        Ok(found) if found.is_file() => Ok(Ok(())),
        Ok(_) => Ok(Err(FileRefusal::BadPath)),
        Err(error) => refused(error).map(Err),
    }
}

/// Maps errors that are caused by the path to refusals.
fn refused(error: io::Error) -> io::Result<FileRefusal> {
    match error.kind() {
        ErrorKind::NotFound => Ok(FileRefusal::NotFound),
        // The handle refuses to leave the folder with "permission denied".
        ErrorKind::NotADirectory
        | ErrorKind::IsADirectory
        | ErrorKind::PermissionDenied
        | ErrorKind::InvalidInput
        | ErrorKind::InvalidFilename => Ok(FileRefusal::BadPath),
        _ if Errno::from_io_error(&error) == Some(Errno::LOOP) => Ok(FileRefusal::BadPath),
        _ => Err(error),
    }
}
