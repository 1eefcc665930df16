//! Workspace files in a temporary folder, accessed through a directory handle that paths cannot escape.

use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::PathBuf;

use async_trait::async_trait;
use bytes::Bytes;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use futures::{StreamExt, stream};
use ports::PortResult;
use ports::files::{
    FileList, FileRef, FileRefusal, FileStream, FileWritten, Files, SessionWorkspace,
};
use protocol::response::WorkspaceFile;

pub(crate) struct Folder {
    root: tempfile::TempDir,
    dir: Dir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().expect("a folder");
        let dir = Dir::open_ambient_dir(root.path(), ambient_authority()).expect("the folder");
        Self { root, dir }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.root.path().to_owned()
    }

    fn describe(&self, path: &str) -> Result<WorkspaceFile, FileRefusal> {
        let found = self.dir.metadata(path).map_err(refused)?;
        if !found.is_file() {
            return Err(FileRefusal::BadPath);
        }
        Ok(WorkspaceFile {
            file_id: path.to_owned(),
            path: path.to_owned(),
            name: path.rsplit('/').next().unwrap_or(path).to_owned(),
            mime_type: "text/plain".into(),
            size_bytes: found.len(),
        })
    }

    fn all(&self, folder: &str, into: &mut Vec<WorkspaceFile>) {
        for entry in self.dir.read_dir(folder).expect("a folder").flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if folder == "." { name } else { format!("{folder}/{name}") };
            match entry.file_type().expect("a type").is_dir() {
                true => self.all(&path, into),
                false => into.extend(self.describe(&path)),
            }
        }
    }
}

fn refused(error: std::io::Error) -> FileRefusal {
    match error.kind() {
        ErrorKind::NotFound => FileRefusal::NotFound,
        _ => FileRefusal::BadPath,
    }
}

fn path_of(file: &FileRef) -> &str {
    match file {
        FileRef::Id(path) | FileRef::Path(path) => path,
    }
}

#[async_trait]
impl Files for Folder {
    async fn list(&self, _: &SessionWorkspace, prefix: &str, limit: usize) -> PortResult<FileList> {
        let mut files = Vec::new();
        self.all(".", &mut files);
        files.retain(|file| file.path.starts_with(prefix));
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let total = files.len();
        files.truncate(limit);
        Ok(FileList { files, total })
    }

    async fn stat(
        &self,
        _: &SessionWorkspace,
        file: &FileRef,
    ) -> PortResult<Result<WorkspaceFile, FileRefusal>> {
        Ok(self.describe(path_of(file)))
    }

    async fn read(
        &self,
        _: &SessionWorkspace,
        file: &FileRef,
        offset: u64,
        length: usize,
    ) -> PortResult<Result<(WorkspaceFile, Bytes), FileRefusal>> {
        let found = match self.describe(path_of(file)) {
            Ok(found) => found,
            Err(refused) => return Ok(Err(refused)),
        };
        let mut open = self.dir.open(path_of(file)).expect("the file");
        open.seek(SeekFrom::Start(offset)).expect("a position");
        let mut bytes = Vec::new();
        open.take(length as u64).read_to_end(&mut bytes).expect("the bytes");
        Ok(Ok((found, Bytes::from(bytes))))
    }

    async fn open(
        &self,
        place: &SessionWorkspace,
        file: &FileRef,
    ) -> PortResult<Result<(WorkspaceFile, FileStream), FileRefusal>> {
        let read = self.read(place, file, 0, usize::MAX).await?;
        Ok(read.map(|(found, content)| (found, stream::iter([Ok(content)]).boxed())))
    }

    async fn write(
        &self,
        _: &SessionWorkspace,
        path: &str,
        content: Bytes,
        overwrite: bool,
    ) -> PortResult<Result<FileWritten, FileRefusal>> {
        let created = !self.dir.exists(path);
        if !created && !overwrite {
            return Ok(Err(FileRefusal::Exists));
        }
        if let Some((folder, _)) = path.rsplit_once('/')
            && self.dir.create_dir_all(folder).is_err()
        {
            return Ok(Err(FileRefusal::BadPath));
        }
        if self.dir.write(path, &content).is_err() {
            return Ok(Err(FileRefusal::BadPath));
        }
        Ok(self.describe(path).map(|file| FileWritten { file, created }))
    }

    async fn delete(
        &self,
        _: &SessionWorkspace,
        file: &FileRef,
    ) -> PortResult<Result<WorkspaceFile, FileRefusal>> {
        let found = self.describe(path_of(file));
        if found.is_ok() {
            self.dir.remove_file(path_of(file)).expect("the file");
        }
        Ok(found)
    }

    async fn delete_session(&self, _: &SessionWorkspace) -> PortResult<()> {
        Ok(())
    }

    async fn folder(&self, _: &SessionWorkspace) -> PortResult<PathBuf> {
        Ok(self.path())
    }
}
