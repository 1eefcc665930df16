//! Exactly one end per stream, and it agrees with the store: turns are canceled while they finish.

use std::time::{Duration, Instant};

use serde_json::Value;
use testkit::scale::scaled;
use tokio::task::JoinSet;

use super::ENGINE;
use crate::contract::{TurnEnd, assert_complete};
use crate::events::turn_of;
use crate::history::{history, rows};
use crate::server::TestServer;
use crate::turn_requests::status_of;

/// Times `TEST_SCALE`.
const TURNS: usize = 60;
const WORKERS: u64 = 6;
const TEXT: &str = "/stream count=10 size=4 delay_ms=2";

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_turn_cancelled_while_it_finishes_ends_once_and_its_status_agrees() {
    let server = std::sync::Arc::new(TestServer::with(ENGINE, &[("NUM_COPILOT_WORKERS", "8")]));
    let session = server.session().await;
    let started = Instant::now();
    server.say(&session, TEXT).await.all().await;
    // After this time most turns have ended, also with others running.
    let latest = started.elapsed() * 3;
    let turns = scaled(TURNS) as u64;
    let mut workers = JoinSet::new();
    for worker in 0..WORKERS {
        let server = server.clone();
        workers.spawn(async move {
            let mut aborted = 0;
            for number in (worker..turns).step_by(WORKERS as usize) {
                let stop_after = latest * (number * 37 % turns) as u32 / turns as u32;
                aborted += u64::from(
                    run_and_cancel(&server, number, stop_after).await == TurnEnd::Aborted,
                );
            }
            aborted
        });
    }
    let aborted: u64 = workers.join_all().await.into_iter().sum();
    assert!(
        (1..turns).contains(&aborted),
        "both ends occurred: {aborted} of {turns} were canceled"
    );
}

/// Runs one turn and cancels it after this time.
async fn run_and_cancel(server: &TestServer, number: u64, stop_after: Duration) -> TurnEnd {
    let session = server.session().await;
    let mut events = server.say(&session, TEXT).await;
    let turn = turn_of(&events);
    let stopping = async {
        tokio::time::sleep(stop_after).await;
        server.cancel(&session).await
    };
    let reading = async {
        let mut all = Vec::new();
        let ended = loop {
            let got = events.next().await.expect("an end comes before the stream closes");
            let kind = got.chunk["type"].as_str().expect("a type").to_owned();
            all.push(got);
            if matches!(kind.as_str(), "finish" | "abort") {
                break kind;
            }
        };
        // Immediately, on other connections, before the stream itself is closed.
        let (status, read) = tokio::join!(status_of(server, &turn), server.read_session(&session));
        let expected = if ended == "abort" { "cancelled" } else { "completed" };
        assert_eq!(status, expected, "turn {number}");
        assert_eq!(read["active_stream"], Value::Null, "turn {number}");
        assert_eq!(read["chat_status"], "idle", "turn {number}");
        let (rest, _) = events.rest().await;
        all.extend(rest);
        assert_complete(&all)
    };
    let (end, report) = tokio::join!(reading, stopping);
    if end == TurnEnd::Aborted {
        assert_eq!(report["cancelled"], true, "turn {number}");
    }
    let history = history(server, &session).await;
    let notices = rows(&history, "system");
    assert_eq!(
        notices.len(),
        usize::from(end == TurnEnd::Aborted),
        "a cancel stores one notice: {history:?}"
    );
    end
}
