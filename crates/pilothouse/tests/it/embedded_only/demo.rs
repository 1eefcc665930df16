//! The demo script of the documentation works as described.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::server::{OutputLog, wait};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/demo/run.sh");
/// The demo waits several seconds for its own service.
const DEMO_TIMEOUT: Duration = Duration::from_secs(90);

#[test]
fn the_demo_shows_a_sub_session_a_background_call_and_an_operation() {
    let mut demo = Command::new("bash")
        .arg(SCRIPT)
        .arg(env!("CARGO_BIN_EXE_pilothouse"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("there is a bash");
    let (shown, complaints) = (OutputLog::default(), OutputLog::default());
    shown.follow(demo.stdout.take().expect("piped"));
    complaints.follow(demo.stderr.take().expect("piped"));
    let status = wait(&mut demo, DEMO_TIMEOUT);
    let _ = demo.kill();
    let failed = || format!("{}\n{}", shown.text(), complaints.text());
    assert!(status.is_some_and(|status| status.success()), "{}", failed());
    for part in [
        "sub_session_status {\"status\": \"completed\"",
        "background {\"background_id\"",
        "operation_started",
        "chart.pdf",
        "The operation print_chart",
    ] {
        shown.wait_for(part);
    }
}
