//! How many processes a command has. The kernel's own limit does not bind a server that runs as root, so the count is
//! watched as well; the namespace makes sure that killing its first process kills them all.

use std::fs;
use std::time::Duration;

use super::MAX_PROCESSES;

const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Bubblewrap's own processes around the command.
const OWN: usize = 2;

/// Returns when the tree below `root` has grown too large; otherwise never.
pub(super) async fn too_many(root: u32) {
    let mut ticks = tokio::time::interval(LOOK_EVERY);
    loop {
        ticks.tick().await;
        if count(root) > MAX_PROCESSES + OWN {
            return;
        }
    }
}

/// Stops counting soon after the limit, so a flood of processes cannot make the look itself expensive.
fn count(root: u32) -> usize {
    let mut seen = 0;
    let mut waiting = vec![root];
    while let Some(id) = waiting.pop() {
        seen += 1;
        if seen > MAX_PROCESSES + OWN {
            break;
        }
        // Processes come and go while we look; one that is gone has no children.
        let Ok(threads) = fs::read_dir(format!("/proc/{id}/task")) else { continue };
        for thread in threads.flatten().take(MAX_PROCESSES) {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            waiting.extend(children.split_whitespace().filter_map(|id| id.parse::<u32>().ok()));
        }
    }
    seen
}
