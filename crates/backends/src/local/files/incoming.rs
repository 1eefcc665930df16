//! Where files grow before they are renamed into a workspace. Every process has a folder of its own there and holds a
//! lock on it, so what a process that died was writing is told from what others are writing now.

use std::io::{self, ErrorKind};

use cap_std::fs::Dir;
use rustix::fs::{FlockOperation, flock};

const NAME: &str = "incoming";

/// Removes what nobody writes any more and gives this process its place.
pub(super) fn open(sessions: &Dir) -> io::Result<Dir> {
    sessions.create_dir_all(NAME)?;
    let incoming = sessions.open_dir(NAME)?;
    remove_abandoned(&incoming)?;
    loop {
        let name = uuid::Uuid::new_v4().simple().to_string();
        incoming.create_dir(&name)?;
        let mine = incoming.open_dir(&name)?;
        // Another process that starts now may take the folder for an abandoned one before it is locked.
        if lock(&mine) && incoming.exists(&name) {
            return Ok(mine);
        }
    }
}

fn remove_abandoned(incoming: &Dir) -> io::Result<()> {
    for entry in incoming.entries()? {
        let entry = entry?;
        let removed = match entry.open_dir() {
            Ok(folder) if lock(&folder) => incoming.remove_dir_all(entry.file_name()),
            Ok(_) => continue,
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

/// Held for as long as the folder is open.
fn lock(folder: &Dir) -> bool {
    flock(folder, FlockOperation::NonBlockingLockExclusive).is_ok()
}
