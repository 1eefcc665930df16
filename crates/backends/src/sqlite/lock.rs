//! One process per data directory. The operating system holds the lock, so it ends with the process.

use std::fs::{File, TryLockError};
use std::path::Path;

use crate::connect::ConnectError;

pub(crate) fn lock(directory: &Path) -> Result<File, ConnectError> {
    let unusable = |source: std::io::Error| ConnectError::Directory {
        directory: directory.to_owned(),
        reason: source.to_string(),
    };
    std::fs::create_dir_all(directory).map_err(unusable)?;
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(directory.join("pilothouse.lock"))
        .map_err(unusable)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            Err(ConnectError::InUse { directory: directory.to_owned() })
        }
        Err(TryLockError::Error(source)) => Err(unusable(source)),
    }
}
