//! Where files grow before they are renamed into a workspace. Every process has a folder of its own there and holds a
//! lock on it, so what a process that died was writing is told from what others are writing now.

use std::io::{self, ErrorKind};

use cap_std::fs::Dir;
use rustix::fs::{FlockOperation, Mode, OFlags, flock, openat};
use rustix::io::Errno;

const NAME: &str = "incoming";

/// Removes what nobody writes any more and gives this process its place.
pub(super) fn open(sessions: &Dir) -> io::Result<Dir> {
    sessions.create_dir_all(NAME)?;
    let incoming = sessions.open_dir(NAME)?;
    remove_abandoned(&incoming)?;
    loop {
        let name = uuid::Uuid::new_v4().simple().to_string();
        incoming.create_dir(&name)?;
        // Another process that starts now may take the folder for an abandoned one before it is locked.
        if let Some(mine) = lock(&incoming.open_dir(&name)?)?
            && incoming.exists(&name)
        {
            return Ok(mine);
        }
    }
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
