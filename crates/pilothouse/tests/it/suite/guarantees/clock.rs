//! Wall-clock jumps change nothing but timestamps: the server's clock is moved by hours while turns run.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;
use testkit::model_server::{Gate, ModelServer, Script};

use super::{server_for, workspace_file};
use crate::contract::{TurnEnd, assert_complete};
use crate::events::{EventStream, kinds, turn_of};
use crate::history::{history, rows};
use crate::server::{TestServer, eventually, json_of};
use crate::turn_requests::{send_and_follow, status_of};

const LEASE_MS: u64 = 1500;
const JUMPS: [&str; 3] = ["+1h", "-1h", "+1d"];

#[tokio::test(flavor = "multi_thread")]
async fn turns_and_their_streams_are_not_affected_by_clock_jumps() {
    let clock = FakeClock::new();
    let model = ModelServer::start().await;
    let gate = Gate::closed();
    model.enqueue(Script::default().say("I begin").wait_for(&gate).say(" and I end."));
    let lease = LEASE_MS.to_string();
    let server = server_for(
        &model,
        &[
            ("LD_PRELOAD", clock.library.to_str().expect("text")),
            ("FAKETIME_TIMESTAMP_FILE", clock.file.to_str().expect("text")),
            ("FAKETIME_NO_CACHE", "1"),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
            ("DONT_FAKE_MONOTONIC", "1"),
            ("TURN_LEASE_MS", &lease),
            ("TURN_RENEW_MS", "400"),
            ("SWEEP_INTERVAL_MS", "200"),
        ],
    );
    let speaking_in = server.session().await;
    let mut speaking = send_and_follow(&server, &speaking_in, "m1", "speak").await;
    gate.reached().await;
    let wait = json!({"command": "touch waiting.txt; while [ ! -e go.txt ]; do sleep 0.05; done"});
    model.enqueue(Script::tool("call_1", "bash_exec", &wait));
    model.enqueue(Script::text("It came."));
    let working_in = server.session().await;
    let mut working = send_and_follow(&server, &working_in, "m1", "wait").await;
    let waiting =
        eventually("the tool at work", async || workspace_file(&server, "waiting.txt")).await;

    let before = wall_clock(&server).await;
    for jump in JUMPS {
        clock.set(jump);
        // Long enough for a lease and a sweep to be affected by the clock.
        tokio::time::sleep(Duration::from_millis(LEASE_MS + 500)).await;
        assert_eq!(status_of(&server, &turn_of(&speaking)).await, "running", "{jump}");
        assert_eq!(status_of(&server, &turn_of(&working)).await, "running", "{jump}");
    }
    let moved = wall_clock(&server).await.duration_since(before);
    assert!(moved.as_hours() >= 23, "the clock was really moved, by {moved:#}");
    gate.open();
    std::fs::write(waiting.with_file_name("go.txt"), "").expect("a workspace");
    let turns = [turn_of(&speaking), turn_of(&working)];
    for (stream, session) in [(&mut speaking, &speaking_in), (&mut working, &working_in)] {
        let (events, _) = stream.rest().await;
        assert_eq!(assert_complete(&events), TurnEnd::Finished("stop".into()));
        assert!(!kinds(&events).contains(&"data-attempt"), "no other attempt took it over");
        let history = history(&server, session).await;
        assert_eq!(rows(&history, "user").len(), 1);
    }
    for turn in &turns {
        assert_eq!(status_of(&server, turn).await, "completed");
    }
    assert_eq!(model.requests().len(), 3, "no request was repeated");

    for jump in ["+2d", "-1d", "+1h"] {
        clock.set(jump);
        let path = format!("/chat/sessions/{speaking_in}/stream");
        let again = server.get(&path).send().await.expect("an answer");
        assert_eq!(again.status(), 200, "{jump}: a turn that has just ended is still replayed");
        EventStream::of(again).all().await;
        model.enqueue(Script::text("More."));
        let events = server.say(&speaking_in, "more").await;
        assert_eq!(
            assert_complete(&events.all().await),
            TurnEnd::Finished("stop".into()),
            "{jump}"
        );
    }
    history(&server, &speaking_in).await;
    model.assert_no_violations();
}

/// The wall-clock time of the server.
async fn wall_clock(server: &TestServer) -> jiff::Timestamp {
    let made = server.client.post(server.api("/chat/sessions")).send().await.expect("an answer");
    let made = json_of(made).await;
    made["created_at"].as_str().expect("a time").parse().expect("a time")
}

/// A clock offset, read by libfaketime from a file.
struct FakeClock {
    library: PathBuf,
    file: PathBuf,
    _folder: TempDir,
}

impl FakeClock {
    fn new() -> Self {
        let library =
            find_library().expect("this test needs libfaketime: apt-get install -y libfaketime");
        let folder = TempDir::new().expect("a temporary folder");
        let clock = Self { library, file: folder.path().join("clock"), _folder: folder };
        clock.set("+0");
        clock
    }

    fn set(&self, offset: &str) {
        // Renamed into place, so that no process reads a partial number.
        let next = self.file.with_extension("next");
        std::fs::write(&next, format!("{offset}\n")).expect("a file");
        std::fs::rename(&next, &self.file).expect("a file");
    }
}

fn find_library() -> Option<PathBuf> {
    let name = "faketime/libfaketimeMT.so.1";
    let mut folders = vec![
        PathBuf::from("/usr/lib"),
        PathBuf::from("/usr/lib64"),
        PathBuf::from("/usr/local/lib"),
    ];
    let of_machines = std::fs::read_dir(Path::new("/usr/lib")).ok()?;
    folders.extend(of_machines.filter_map(|entry| Some(entry.ok()?.path())));
    folders.into_iter().map(|folder| folder.join(name)).find(|library| library.exists())
}
