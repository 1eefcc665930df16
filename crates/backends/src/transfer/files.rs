//! The workspace files. They grow in a folder beside their place, are compared with what they were copied from, and
//! only then take it.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::cell::{Cell, Sum, Summing};
use super::{Compared, TransferError};

const FOLDER: &str = "workspaces";
/// Files that were being written when the process before ended; nobody will ever ask for them.
const UNFINISHED: &str = "incoming";

/// What was put in place, and how to take it away again.
pub(super) struct Moved {
    sum: Sum,
    /// `None` when there was nothing to copy.
    place: Option<PathBuf>,
}

impl Moved {
    pub(super) fn copy(from: &Path, to: &Path) -> Result<Self, TransferError> {
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
        let growing = to.join(format!("{FOLDER}.{}", uuid::Uuid::new_v4().simple()));
        let copied = copy_folder(&source, &growing).map_err(unusable).and_then(|()| {
            let there = self::sum(&growing)?;
            if there == sum {
                put_in_place(&growing, &place).map_err(unusable)
            } else {
                Err(TransferError::Differs {
                    what: "workspace files",
                    source_count: sum.count,
                    target_count: there.count,
                })
            }
        });
        if let Err(error) = copied {
            // The copy is worthless, and the reason why is what matters.
            let _ = fs::remove_dir_all(&growing);
            return Err(error);
        }
        Ok(Self { sum, place: Some(place) })
    }

    pub(super) fn compared(&self) -> Compared {
        let Sum { count, digest } = self.sum.clone();
        Compared { name: "workspace files", count, digest }
    }

    pub(super) fn undo(self) -> Result<(), TransferError> {
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

fn put_in_place(growing: &Path, place: &Path) -> io::Result<()> {
    // A start of the program may have left the empty folder there.
    if place.exists() {
        fs::remove_dir_all(place)?;
    }
    fs::rename(growing, place)
}

/// Files, folders and links as they are; a link is not followed, because a shell may have put anything there.
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

/// Everything below a folder by name, kind and content.
fn sum(folder: &Path) -> Result<Sum, TransferError> {
    let mut summing = Summing::default();
    if folder.is_dir() {
        add(folder, folder, &mut summing).map_err(unusable)?;
    }
    Ok(summing.sum())
}

fn add(root: &Path, folder: &Path, summing: &mut Summing) -> io::Result<()> {
    for entry in entries(folder)? {
        if folder == root && entry.file_name().is_some_and(|name| name == UNFINISHED) {
            continue;
        }
        let about = fs::symlink_metadata(&entry)?;
        let name = entry.strip_prefix(root).unwrap_or(&entry).as_os_str().as_bytes().to_owned();
        let mode = Cell::Number(i64::from(about.permissions().mode()));
        let content = if about.is_symlink() {
            fs::read_link(&entry)?.as_os_str().as_bytes().to_owned()
        } else if about.is_file() {
            let mut hash = HashWriter(Sha256::default());
            io::copy(&mut fs::File::open(&entry)?, &mut hash)?;
            hash.0.finalize().to_vec()
        } else if about.is_dir() {
            Vec::new()
        } else {
            // Pipes and sockets mean nothing once their process is gone.
            continue;
        };
        summing.add(&[Cell::Bytes(name), mode, Cell::Bytes(content)]);
        if about.is_dir() {
            add(root, &entry, summing)?;
        }
    }
    Ok(())
}

/// In the order of their names, so that two equal folders are read alike.
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
    fn files_folders_and_links_arrive_as_they_were() {
        let (from, to) =
            (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("one"));
        let session = from.path().join("workspaces/s-1");
        fs::create_dir_all(session.join("deep/empty")).expect("made");
        fs::write(session.join("deep/a.txt"), "ä").expect("written");
        fs::set_permissions(session.join("deep/a.txt"), fs::Permissions::from_mode(0o640))
            .expect("set");
        symlink("/etc/passwd", session.join("link")).expect("linked");
        let moved = Moved::copy(from.path(), to.path()).expect("copied");
        assert_eq!(moved.compared().count, 5);
        let arrived = to.path().join("workspaces/s-1");
        assert_eq!(fs::read_link(arrived.join("link")).expect("a link"), Path::new("/etc/passwd"));
        assert_eq!(fs::read_to_string(arrived.join("deep/a.txt")).expect("text"), "ä");
        let again = Moved::copy(from.path(), to.path()).err().expect("refused");
        assert!(again.to_string().contains("is not empty"), "{again}");
        moved.undo().expect("taken away");
        assert_eq!(fs::read_dir(to.path()).expect("a folder").count(), 0, "nothing is left");
    }

    #[test]
    fn the_same_folder_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(folder.path().join("workspaces/s-1")).expect("made");
        let moved = Moved::copy(folder.path(), folder.path()).expect("nothing to do");
        moved.undo().expect("nothing to undo");
        assert!(folder.path().join("workspaces/s-1").is_dir());
    }
}
