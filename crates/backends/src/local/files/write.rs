//! Writes a file completely, on disk and within the limits, or not at all.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, ErrorKind, Write};

use cap_std::fs::Dir;
use ports::files::{FileRefusal, FileWritten, SessionWorkspace};

use super::names::{described, path_of};
use super::{FileResult, LocalFilesInner, STRIPES, plain_file, refused, walk};

const FILE_BYTES: u64 = 100_000_000;
const WORKSPACE_BYTES: u64 = 250_000_000;

impl LocalFilesInner {
    pub(crate) fn write(
        &self,
        session_workspace: &SessionWorkspace,
        path: &str,
        content: &[u8],
        overwrite: bool,
    ) -> FileResult<FileWritten> {
        let Some(path) = path_of(path) else { return Ok(Err(FileRefusal::BadPath)) };
        if content.len() as u64 > FILE_BYTES {
            return Ok(Err(FileRefusal::TooLarge { limit: FILE_BYTES }));
        }
        // The lock protects no data, so a panic of its last holder does not matter.
        let _writing =
            self.writing[stripe(session_workspace)].lock().unwrap_or_else(|e| e.into_inner());
        let workspace = self.make_workspace(session_workspace)?;
        let created = match plain_file(&workspace, path)? {
            Ok(()) if !overwrite => return Ok(Err(FileRefusal::Exists)),
            Ok(()) => false,
            Err(FileRefusal::NotFound) => true,
            Err(refused) => return Ok(Err(refused)),
        };
        if used_by_others(&workspace, session_workspace, path)? + content.len() as u64
            > WORKSPACE_BYTES
        {
            return Ok(Err(FileRefusal::TooLarge { limit: WORKSPACE_BYTES }));
        }
        let part = uuid::Uuid::new_v4().simple().to_string();
        let moved = self.put(&workspace, &part, path, content, created);
        // After a rename there is nothing left to remove.
        let _ = self.incoming.remove_file(&part);
        match moved {
            Ok(()) => {
                let file = described(session_workspace, path, content.len() as u64);
                Ok(Ok(FileWritten { file, created }))
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(Err(FileRefusal::Exists)),
            Err(error) => refused(error).map(Err),
        }
    }

    fn put(
        &self,
        workspace: &Dir,
        part: &str,
        path: &str,
        content: &[u8],
        created: bool,
    ) -> io::Result<()> {
        let mut file = self.incoming.create(part)?;
        file.write_all(content)?;
        file.sync_all()?;
        let folder = match path.rsplit_once('/') {
            Some((folder, _)) => {
                workspace.create_dir_all(folder)?;
                workspace.open_dir(folder)?
            }
            None => workspace.try_clone()?,
        };
        if created {
            // Unlike a rename, a link does not replace a file that a shell created in between.
            self.incoming.hard_link(part, workspace, path)?;
        } else {
            self.incoming.rename(part, workspace, path)?;
        }
        // The name is on disk only when its folder is.
        folder.open(".")?.sync_all()
    }
}

fn used_by_others(
    workspace: &Dir,
    session_workspace: &SessionWorkspace,
    path: &str,
) -> io::Result<u64> {
    let files = walk::files(workspace, session_workspace)?;
    Ok(files.iter().filter(|file| file.path != path).map(|file| file.size_bytes).sum())
}

fn stripe(session_workspace: &SessionWorkspace) -> usize {
    let mut hasher = DefaultHasher::new();
    session_workspace.session.hash(&mut hasher);
    (hasher.finish() % STRIPES as u64) as usize
}
