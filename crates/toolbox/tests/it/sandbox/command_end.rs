//! However a command ends, none of its processes remain.

use std::time::{Duration, Instant};

use pilothouse_toolbox::sandbox::{CommandEnd, SandboxCommand};
use tokio_util::sync::CancellationToken;

use super::{alive, job, run, sandbox, until};

/// A command line that no other process has; `sleep` takes the digits for a fraction of a second.
fn marker() -> String {
    format!("600.{:09}", nine_digits())
}

fn nine_digits() -> u32 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    (RandomState::new().build_hasher().finish() % 1_000_000_000) as u32
}

/// Starts two descendants: one detaches into its own session, one ignores signals.
fn family(marker: &str) -> String {
    format!(
        "(setsid sleep {marker} >/dev/null 2>&1 &) ; bash -c 'trap \"\" TERM INT HUP; sleep {marker}; :'"
    )
}

#[tokio::test]
async fn a_command_that_takes_too_long_dies_with_its_descendants() {
    let (folder, marker) = (tempfile::tempdir().expect("a folder"), marker());
    let job = SandboxCommand {
        timeout: Duration::from_secs(1),
        ..job(&format!("echo begun; {}", family(&marker)), folder.path())
    };
    let started = Instant::now();
    let finished = sandbox().await.run(job, CancellationToken::new()).await.expect("it runs");
    assert_eq!((finished.end, finished.stdout.as_str()), (CommandEnd::TimedOut, "begun\n"));
    assert!(started.elapsed() < Duration::from_secs(5));
    until("the descendants die", || alive(&marker) == 0).await;
}

#[tokio::test]
async fn a_command_that_closed_its_output_still_ends_in_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let job = SandboxCommand {
        timeout: Duration::from_secs(1),
        ..job("exec >&- 2>&-; sleep 600", folder.path())
    };
    let finished = sandbox().await.run(job, CancellationToken::new()).await.expect("it runs");
    assert_eq!(finished.end, CommandEnd::TimedOut);
}

#[tokio::test]
async fn a_cancelled_command_dies_with_its_descendants() {
    let (folder, marker, cancel) =
        (tempfile::tempdir().expect("a folder"), marker(), CancellationToken::new());
    let sandbox = sandbox().await;
    let running = sandbox.run(job(&family(&marker), folder.path()), cancel.clone());
    let stop = async {
        until("the command runs", || alive(&format!("sleep\0{marker}")) >= 2).await;
        cancel.cancel();
        Instant::now()
    };
    let (finished, cancelled_at) = tokio::join!(running, stop);
    assert_eq!(finished.expect("it runs").end, CommandEnd::Cancelled);
    assert!(cancelled_at.elapsed() < Duration::from_secs(1));
    until("the descendants die", || alive(&marker) == 0).await;
}

#[tokio::test]
async fn a_command_whose_future_is_dropped_dies_with_its_descendants() {
    let (folder, marker) = (tempfile::tempdir().expect("a folder"), marker());
    let sandbox = sandbox().await;
    let running = sandbox.run(job(&family(&marker), folder.path()), CancellationToken::new());
    tokio::select! {
        finished = running => panic!("it ended by itself: {finished:?}"),
        () = until("the command runs", || alive(&format!("sleep\0{marker}")) >= 2) => {}
    }
    until("the descendants die", || alive(&marker) == 0).await;
}

#[tokio::test]
async fn background_processes_end_with_their_command() {
    let marker = marker();
    let finished =
        run(&format!("sleep {marker} & disown; (setsid sleep {marker} &); echo ready")).await;
    assert_eq!((finished.end, finished.stdout.as_str()), (CommandEnd::Exited(0), "ready\n"));
    until("the descendants die", || alive(&marker) == 0).await;
}

#[tokio::test]
async fn a_flood_of_processes_is_stopped() {
    let marker = marker();
    let finished = run(&format!("while true; do sleep {marker} & done 2>/dev/null")).await;
    // The kernel refuses to fork, or the process watch ends the command; for root only the watch applies.
    assert_ne!(finished.end, CommandEnd::Exited(0));
    until("the flood is gone", || alive(&marker) == 0).await;
}
