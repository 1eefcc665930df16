//! Finds processes of this machine by a unique word in their command line.

use std::time::{Duration, Instant};

use crate::server::TEST_TIMEOUT;

/// The number of processes that have this word among their arguments.
pub(crate) fn processes_with(word: &str) -> usize {
    let of_process = |entry: std::io::Result<std::fs::DirEntry>| {
        std::fs::read(entry.ok()?.path().join("cmdline")).ok()
    };
    let lines = std::fs::read_dir("/proc").expect("/proc").filter_map(of_process);
    lines.filter(|line| line.split(|byte| *byte == 0).any(|part| part == word.as_bytes())).count()
}

/// Returns when exactly this many processes have this word among their arguments.
pub(crate) async fn until_processes(word: &str, count: usize) {
    let began = Instant::now();
    while processes_with(word) != count {
        let found = processes_with(word);
        assert!(began.elapsed() < TEST_TIMEOUT, "{found} processes have {word}, not {count}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
