//! Room on the disk that is kept back, so that what was accepted can still be ended when everything
//! else is full.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::FallocateFlags;
use rustix::io::Errno;

/// Some hundreds of endings: each takes a few pages of the write-ahead log.
const SIZE: u64 = 8 * 1024 * 1024;
/// Between two looks whether there is room again.
const RETRY: Duration = Duration::from_secs(1);

pub(crate) struct Reserve {
    file: PathBuf,
    state: State,
}

enum State {
    Kept,
    /// In use, or never made because there was no room.
    Spent {
        looked: Instant,
    },
}

impl Reserve {
    pub(crate) fn keep(directory: &Path) -> Self {
        let file = directory.join("pilothouse.reserve");
        let there = std::fs::metadata(&file).is_ok_and(|found| found.len() == SIZE);
        let state = if there || fill(&file).is_ok() {
            State::Kept
        } else {
            State::Spent { looked: Instant::now() }
        };
        Self { file, state }
    }

    /// Whether ordinary writes are welcome. Looks for room now and then while they are not.
    pub(crate) fn is_there(&mut self) -> bool {
        match self.state {
            State::Kept => true,
            State::Spent { looked } if looked.elapsed() < RETRY => false,
            State::Spent { .. } if fill(&self.file).is_ok() => {
                tracing::info!("there is room on the disk again");
                self.state = State::Kept;
                true
            }
            State::Spent { .. } => {
                self.state = State::Spent { looked: Instant::now() };
                false
            }
        }
    }

    /// Gives the room away; `false` when it was given away before.
    pub(crate) fn release(&mut self) -> bool {
        if matches!(self.state, State::Spent { .. }) {
            return false;
        }
        self.state = State::Spent { looked: Instant::now() };
        std::fs::remove_file(&self.file).is_ok()
    }
}

/// Succeeds only when there is room for twice the reserve: taking the last of it would fill the disk again.
fn fill(file: &Path) -> io::Result<()> {
    let filled = fill_twice_then_halve(file);
    if filled.is_err() {
        // Half a reserve is only in the way.
        let _ = std::fs::remove_file(file);
    }
    filled
}

fn fill_twice_then_halve(file: &Path) -> io::Result<()> {
    let mut made = File::create(file)?;
    match rustix::fs::fallocate(&made, FallocateFlags::empty(), 0, 2 * SIZE) {
        Ok(()) => {}
        // This file system cannot set room aside without writing to it.
        Err(Errno::OPNOTSUPP) => {
            let block = vec![0u8; 1024 * 1024];
            for _ in 0..(2 * SIZE / block.len() as u64) {
                made.write_all(&block)?;
            }
            // Some find out only now that there is none.
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
    fn a_reserve_takes_real_room_and_gives_it_back_once() {
        use std::os::unix::fs::MetadataExt;
        let folder = tempfile::tempdir().expect("a folder");
        let mut reserve = Reserve::keep(folder.path());
        let file = folder.path().join("pilothouse.reserve");
        let found = std::fs::metadata(&file).expect("it is there");
        assert_eq!(found.len(), SIZE);
        assert!(found.blocks() * 512 >= SIZE, "it is not a hole");
        assert!(reserve.is_there());
        assert!(reserve.release());
        assert!(!file.exists() && !reserve.is_there() && !reserve.release());
    }
}
