//! Where files grow before they are renamed into a workspace. Every process has a folder of its own there and holds a
//! lock on it, so what a process that died was writing is told from what others are writing now.

use std::io::{self, ErrorKind};

use cap_std::fs::Dir;
use rustix::fs::{FlockOperation, Mode, OFlags, flock, openat};
use rustix::io::Errno;

const NAME: &str = "incoming";
/// Processes that start at the same moment may get in each other's way, but not so often.
const TRIES: u32 = 100;

/// Removes what nobody writes any more and gives this process its place.
pub(super) fn open(sessions: &Dir) -> io::Result<Dir> {
    sessions.create_dir_all(NAME)?;
    let incoming = sessions.open_dir(NAME)?;
    remove_abandoned(&incoming)?;
    for _ in 0..TRIES {
        let name = uuid::Uuid::new_v4().simple().to_string();
        incoming.create_dir(&name)?;
        // Another process that starts now may take the folder for an abandoned one before it is locked.
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
            // Parts lay here before each process had a folder.
            Err(_) => incoming.remove_file(entry.file_name()),
        };
        match removed {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// The same folder, locked for as long as it is open, or nothing when another process holds it. A `Dir` is only the name
/// of a place, which cannot be locked, so the folder is opened once more, to be read.
fn lock(folder: &Dir) -> io::Result<Option<Dir>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let readable = match openat(folder, ".", flags, Mode::empty()) {
        // Somebody took it for an abandoned one and has removed it.
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
    fn only_what_nobody_writes_any_more_is_removed() {
        let root = tempfile::tempdir().expect("a folder");
        let sessions = Dir::open_ambient_dir(root.path(), ambient_authority()).expect("a folder");
        let first = open(&sessions).expect("a place");
        first.create("part").expect("a file");
        let second = open(&sessions).expect("a place beside it");
        assert_eq!(folders(&sessions), 2);
        assert!(first.exists("part"), "the first one is still at it");
        drop(first);
        let third = open(&sessions).expect("a place");
        assert_eq!(folders(&sessions), 2, "what the first one left is gone");
        drop((second, third));
    }
}
