//! Commands that try to escape the sandbox, to read more than they should, or to outlive their end.

mod command_end;
mod isolation;

use std::path::Path;
use std::time::{Duration, Instant};

use pilothouse_toolbox::sandbox::{CommandOutput, Sandbox, SandboxCommand};
use tokio_util::sync::CancellationToken;

async fn sandbox() -> Sandbox {
    Sandbox::detect().await.expect("bubblewrap is installed and works")
}

fn job(command: &str, workspace: &Path) -> SandboxCommand {
    SandboxCommand {
        command: command.to_owned(),
        workspace: workspace.to_owned(),
        timeout: Duration::from_secs(20),
    }
}

async fn run(command: &str) -> CommandOutput {
    let workspace = tempfile::tempdir().expect("a folder");
    run_in(command, workspace.path()).await
}

async fn run_in(command: &str, workspace: &Path) -> CommandOutput {
    sandbox().await.run(job(command, workspace), CancellationToken::new()).await.expect("it runs")
}

/// Processes of this machine whose command line contains `marker`.
fn alive(marker: &str) -> usize {
    let processes = std::fs::read_dir("/proc").expect("a proc file system");
    processes
        .flatten()
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .filter(|line| String::from_utf8_lossy(line).contains(marker))
        .count()
}

async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !holds() {
        assert!(Instant::now() < deadline, "timed out: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
