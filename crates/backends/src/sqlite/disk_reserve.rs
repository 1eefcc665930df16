//! Disk space kept in reserve, so that accepted work can still be completed when the disk is full.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::FallocateFlags;
use rustix::io::Errno;

/// Enough to finish several hundred turns: each takes a few pages of the write-ahead log.
const SIZE: u64 = 8 * 1024 * 1024;
/// Interval between two checks for free space.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

pub(crate) struct DiskReserve {
    file: PathBuf,
    state: ReserveState,
}

enum ReserveState {
    Kept,
    /// Released, or never created because there was no space.
    Released {
        checked_at: Instant,
    },
}

impl DiskReserve {
    pub(crate) fn create(directory: &Path) -> Self {
        let file = directory.join("pilothouse.reserve");
        let there = std::fs::metadata(&file).is_ok_and(|found| found.len() == SIZE);
        let state = if there || fill(&file).is_ok() {
            ReserveState::Kept
        } else {
            ReserveState::Released { checked_at: Instant::now() }
        };
        Self { file, state }
    }

    /// Whether ordinary writes are allowed. If not, tries from time to time to create the reserve again.
    pub(crate) fn is_available(&mut self) -> bool {
        match self.state {
            ReserveState::Kept => true,
            ReserveState::Released { checked_at } if checked_at.elapsed() < CHECK_INTERVAL => false,
            ReserveState::Released { .. } if fill(&self.file).is_ok() => {
                tracing::info!("there is free disk space again");
                self.state = ReserveState::Kept;
                true
            }
            ReserveState::Released { .. } => {
                self.state = ReserveState::Released { checked_at: Instant::now() };
                false
            }
        }
    }

    /// Frees the space; `false` when it was freed before.
    pub(crate) fn release(&mut self) -> bool {
        if matches!(self.state, ReserveState::Released { .. }) {
            return false;
        }
        self.state = ReserveState::Released { checked_at: Instant::now() };
        std::fs::remove_file(&self.file).is_ok()
    }
}

/// Succeeds only when there is space for twice the reserve: using up the last of it would fill the disk again.
fn fill(file: &Path) -> io::Result<()> {
    let filled = fill_twice_then_halve(file);
    if filled.is_err() {
        // An incomplete reserve only wastes space.
        let _ = std::fs::remove_file(file);
    }
    filled
}

fn fill_twice_then_halve(file: &Path) -> io::Result<()> {
    let mut made = File::create(file)?;
    match rustix::fs::fallocate(&made, FallocateFlags::empty(), 0, 2 * SIZE) {
        Ok(()) => {}
        // This file system cannot allocate space without writing to it.
        Err(Errno::OPNOTSUPP) => {
            let block = vec![0u8; 1024 * 1024];
            for _ in 0..(2 * SIZE / block.len() as u64) {
                made.write_all(&block)?;
            }
            // Some file systems report missing space only now.
            made.sync_all()?;
        }
        Err(error) => return Err(error.into()),
    }
    made.set_len(SIZE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reserve_takes_real_space_and_frees_it_once() {
        use std::os::unix::fs::MetadataExt;
        let folder = tempfile::tempdir().expect("a folder");
        let mut reserve = DiskReserve::create(folder.path());
        let file = folder.path().join("pilothouse.reserve");
        let found = std::fs::metadata(&file).expect("the file exists");
        assert_eq!(found.len(), SIZE);
        assert!(found.blocks() * 512 >= SIZE, "its blocks are allocated");
        assert!(reserve.is_available());
        assert!(reserve.release());
        assert!(!file.exists() && !reserve.is_available() && !reserve.release());
    }
}
