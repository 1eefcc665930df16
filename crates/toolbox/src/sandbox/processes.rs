//! Watches the number of processes of a command. The kernel's limit does not apply to a server that runs as root, so the
//! processes are counted as well; killing the first process of the namespace kills all of them.

use std::fs;
use std::time::Duration;

use super::MAX_PROCESSES;

const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// Bubblewrap's own processes around the command.
const BWRAP_PROCESSES: usize = 2;

/// Returns when the process tree below `root` is too large; otherwise never.
pub(crate) async fn too_many(root: u32) {
    let mut ticks = tokio::time::interval(CHECK_INTERVAL);
    loop {
        ticks.tick().await;
        if count(root) > MAX_PROCESSES + BWRAP_PROCESSES {
            return;
        }
    }
}

/// Stops counting just above the limit, so that a flood of processes cannot make the check itself expensive.
fn count(root: u32) -> usize {
    let mut seen = 0;
    let mut waiting = vec![root];
    while let Some(id) = waiting.pop() {
        seen += 1;
        if seen > MAX_PROCESSES + BWRAP_PROCESSES {
            break;
        }
        // Processes may end during the count; an ended one has no children.
        let Ok(threads) = fs::read_dir(format!("/proc/{id}/task")) else { continue };
        for thread in threads.flatten().take(MAX_PROCESSES) {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            waiting.extend(children.split_whitespace().filter_map(|id| id.parse::<u32>().ok()));
        }
    }
    seen
}
