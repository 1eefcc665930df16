//! Folder for files being written, before they are renamed into a workspace. Every process has its own subfolder and
//! holds a lock on it, which distinguishes the files of dead processes from those still being written.

use std::io::{self, ErrorKind};

use cap_std::fs::Dir;
use rustix::fs::{FlockOperation, Mode, OFlags, flock, openat};
use rustix::io::Errno;

const NAME: &str = "incoming";
/// Processes that start at the same time may interfere with each other, but not this often.
const TRIES: u32 = 100;

/// Removes abandoned subfolders and creates one for this process.
pub(crate) fn open(sessions: &Dir) -> io::Result<Dir> {
    sessions.create_dir_all(NAME)?;
    let incoming = sessions.open_dir(NAME)?;
    remove_abandoned(&incoming)?;
    for _ in 0..TRIES {
        let name = uuid::Uuid::new_v4().simple().to_string();
        incoming.create_dir(&name)?;
        // Another starting process may remove the folder as abandoned before it is locked.
        let folder = match incoming.open_dir(&name) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            opened => opened?,
        };
        if let Some(mine) = lock(&folder)?
            && incoming.exists(&name)
        {
            return Ok(mine);
        }
    }
    Err(io::Error::other("the folder for unfinished files cannot be locked"))
}

fn remove_abandoned(incoming: &Dir) -> io::Result<()> {
    for entry in incoming.entries()? {
        let entry = entry?;
        let removed = match entry.open_dir() {
            Ok(folder) => match lock(&folder)? {
                Some(_ours) => incoming.remove_dir_all(entry.file_name()),
                None => continue,
            },
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            // Earlier versions kept unfinished files here, without a folder per process.
            Err(_) => incoming.remove_file(entry.file_name()),
        };
        match removed {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// The same folder, locked for as long as it is open, or `None` when another process holds it. A `Dir` is opened as a
/// path only, which cannot be locked, so the folder is opened again for reading.
fn lock(folder: &Dir) -> io::Result<Option<Dir>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let readable = match openat(folder, ".", flags, Mode::empty()) {
        // Another process removed it as abandoned.
        Err(Errno::NOENT) => return Ok(None),
        opened => opened?,
    };
    match flock(&readable, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(Dir::from_std_file(readable.into()))),
        Err(Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use cap_std::ambient_authority;

    use super::*;

    fn folders(sessions: &Dir) -> usize {
        sessions.read_dir(NAME).expect("a folder").count()
    }

    #[test]
    fn only_folders_of_dead_processes_are_removed() {
        let root = tempfile::tempdir().expect("a folder");
        let sessions = Dir::open_ambient_dir(root.path(), ambient_authority()).expect("a folder");
        let first = open(&sessions).expect("a folder");
        first.create("part").expect("a file");
        let second = open(&sessions).expect("a folder beside it");
        assert_eq!(folders(&sessions), 2);
        assert!(first.exists("part"), "the first process still writes");
        drop(first);
        let third = open(&sessions).expect("a folder");
        assert_eq!(folders(&sessions), 2, "the first folder was removed");
        drop((second, third));
    }
}
