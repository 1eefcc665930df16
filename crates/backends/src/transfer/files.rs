//! Copies the workspace files. They are copied to a temporary folder, compared with their source, and then moved into
//! place.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::cell::{RowDigest, RowHasher, TableCell};
use super::{ComparedTable, TransferError};

const FOLDER: &str = "workspaces";
/// Files that were being written when a previous process ended; they are never read.
const UNFINISHED: &str = "incoming";

/// Copied files, which can be removed again.
pub(crate) struct CopiedFiles {
    sum: RowDigest,
    /// `None` when there was nothing to copy.
    place: Option<PathBuf>,
}

impl CopiedFiles {
    pub(crate) fn copy(from: &Path, to: &Path) -> Result<Self, TransferError> {
        let source = from.join(FOLDER);
        let place = to.join(FOLDER);
        let sum = sum(&source)?;
        if sum.count == 0 || is_same(&source, &place) {
            return Ok(Self { sum, place: None });
        }
        if place.exists() && self::sum(&place)?.count > 0 {
            let reason = format!("{} is not empty", place.display());
            return Err(TransferError::Files(reason));
        }
        let temporary = to.join(format!("{FOLDER}.{}", uuid::Uuid::new_v4().simple()));
        let copied = copy_folder(&source, &temporary).map_err(unusable).and_then(|()| {
            let there = self::sum(&temporary)?;
            if there == sum {
                put_in_place(&temporary, &place).map_err(unusable)
            } else {
                Err(TransferError::Differs {
                    what: "workspace files",
                    source_count: sum.count,
                    target_count: there.count,
                })
            }
        });
        if let Err(error) = copied {
            // The copy is incomplete; the error matters, not the cleanup.
            let _ = fs::remove_dir_all(&temporary);
            return Err(error);
        }
        Ok(Self { sum, place: Some(place) })
    }

    pub(crate) fn compared(&self) -> ComparedTable {
        let RowDigest { count, digest } = self.sum.clone();
        ComparedTable { name: "workspace files", count, digest }
    }

    pub(crate) fn undo(self) -> Result<(), TransferError> {
        match self.place {
            Some(place) => fs::remove_dir_all(place).map_err(unusable),
            None => Ok(()),
        }
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    match (fs::canonicalize(one), fs::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

fn put_in_place(temporary: &Path, place: &Path) -> io::Result<()> {
    // A start of the program may have created the empty folder.
    if place.exists() {
        fs::remove_dir_all(place)?;
    }
    fs::rename(temporary, place)
}

/// Copies files, folders and links unchanged; links are not followed, because a shell may have created any.
fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in entries(from)? {
        let target = to.join(entry.file_name().unwrap_or_default());
        let about = fs::symlink_metadata(&entry)?;
        if about.is_dir() {
            copy_folder(&entry, &target)?;
        } else if about.is_symlink() {
            symlink(fs::read_link(&entry)?, &target)?;
        } else if about.is_file() {
            fs::copy(&entry, &target)?;
            let file = fs::File::open(&target)?;
            file.set_modified(about.modified()?)?;
            file.sync_all()?;
        }
    }
    fs::set_permissions(to, fs::symlink_metadata(from)?.permissions())
}

/// Digest of everything below a folder by name, kind and content.
fn sum(folder: &Path) -> Result<RowDigest, TransferError> {
    let mut hasher = RowHasher::default();
    if folder.is_dir() {
        add(folder, folder, &mut hasher).map_err(unusable)?;
    }
    Ok(hasher.sum())
}

fn add(root: &Path, folder: &Path, hasher: &mut RowHasher) -> io::Result<()> {
    for entry in entries(folder)? {
        if folder == root && entry.file_name().is_some_and(|name| name == UNFINISHED) {
            continue;
        }
        let about = fs::symlink_metadata(&entry)?;
        let name = entry.strip_prefix(root).unwrap_or(&entry).as_os_str().as_bytes().to_owned();
        let mode = TableCell::Number(i64::from(about.permissions().mode()));
        let content = if about.is_symlink() {
            fs::read_link(&entry)?.as_os_str().as_bytes().to_owned()
        } else if about.is_file() {
            let mut hash = HashWriter(Sha256::default());
            io::copy(&mut fs::File::open(&entry)?, &mut hash)?;
            hash.0.finalize().to_vec()
        } else if about.is_dir() {
            Vec::new()
        } else {
            // Pipes and sockets are useless without their process.
            continue;
        };
        hasher.add(&[TableCell::Bytes(name), mode, TableCell::Bytes(content)]);
        if about.is_dir() {
            add(root, &entry, hasher)?;
        }
    }
    Ok(())
}

/// Ordered by name, so that two equal folders are read in the same order.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut entries =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    entries.sort_unstable();
    Ok(entries)
}

struct HashWriter(Sha256);

impl io::Write for HashWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn unusable(error: io::Error) -> TransferError {
    TransferError::Files(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_folders_and_links_are_copied_unchanged() {
        let (from, to) =
            (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("one"));
        let session = from.path().join("workspaces/s-1");
        fs::create_dir_all(session.join("deep/empty")).expect("made");
        fs::write(session.join("deep/a.txt"), "ä").expect("written");
        fs::set_permissions(session.join("deep/a.txt"), fs::Permissions::from_mode(0o640))
            .expect("set");
        symlink("/etc/passwd", session.join("link")).expect("linked");
        let moved = CopiedFiles::copy(from.path(), to.path()).expect("copied");
        assert_eq!(moved.compared().count, 5);
        let arrived = to.path().join("workspaces/s-1");
        assert_eq!(fs::read_link(arrived.join("link")).expect("a link"), Path::new("/etc/passwd"));
        assert_eq!(fs::read_to_string(arrived.join("deep/a.txt")).expect("text"), "ä");
        let again = CopiedFiles::copy(from.path(), to.path()).err().expect("refused");
        assert!(again.to_string().contains("is not empty"), "{again}");
        moved.undo().expect("taken away");
        assert_eq!(fs::read_dir(to.path()).expect("a folder").count(), 0, "nothing is left");
    }

    #[test]
    fn a_folder_is_not_copied_onto_itself() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(folder.path().join("workspaces/s-1")).expect("made");
        let moved = CopiedFiles::copy(folder.path(), folder.path()).expect("nothing to do");
        moved.undo().expect("nothing to undo");
        assert!(folder.path().join("workspaces/s-1").is_dir());
    }
}
