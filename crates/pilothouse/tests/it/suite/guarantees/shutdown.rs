//! Graceful shutdown: SIGTERM under load loses nothing, is not counted as a crash of a turn, and is quick.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::future::join_all;
use serde_json::json;
use testkit::model_server::{ModelServer, RecordedRequest, Script};

use super::server_for;
use crate::contract::{TurnEnd, assert_complete};
use crate::events::{Ending, EventStream, ReceivedEvent, turn_of};
use crate::history::history;
use crate::server::TestServer;
use crate::turn_requests::{follow_after, send_and_follow, status_of};

/// Below the 10 s that a container runtime allows before SIGKILL.
const EXIT_TIMEOUT: Duration = Duration::from_secs(9);
const TURNS_PER_KIND: usize = 7;
/// Limits high enough that all turns run at the same time although they belong to one user.
const ALL_AT_ONCE: [(&str, &str); 3] = [
    ("NUM_COPILOT_WORKERS", "24"),
    ("MAX_RUNNING_COPILOT_TURNS_PER_USER", "24"),
    ("MAX_INFLIGHT_COPILOT_TURNS_PER_USER", "24"),
];
/// Where the turns hang: before the first text of the model, in its text, in a tool.
const KINDS: [&str; 3] = ["silent", "speaking", "working"];

/// A turn followed by a client, across restarts of the server.
struct FollowedTurn {
    session: String,
    turn: String,
    seen: Vec<ReceivedEvent>,
    stream: EventStream,
}

impl FollowedTurn {
    async fn read_to_the_break(&mut self) {
        let (rest, ending) = self.stream.rest().await;
        self.seen.extend(rest);
        assert_eq!(ending, Ending::Broken, "a clean close would look like a complete answer");
    }

    async fn reconnect(&mut self, server: &TestServer) {
        let last = self.seen.last().expect("events").id;
        self.stream = follow_after(server, &self.turn, last).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn four_shutdowns_under_load_lose_no_turn_and_count_as_no_crash() {
    let hanging_flag = Arc::new(AtomicBool::new(true));
    let model = hanging_model(&hanging_flag).await;
    let mut server = server_for(&model, &ALL_AT_ONCE);
    let mut turns = start_all(&server).await;
    // One more than the crashes a turn may survive.
    for life in 1..=4 {
        let asked = model.requests().len();
        server.sigterm();
        let exiting = server.wait_for_exit(EXIT_TIMEOUT);
        assert_eq!(exiting.code(), Some(0), "life {life}; log:\n{}", server.log());
        join_all(turns.iter_mut().map(FollowedTurn::read_to_the_break)).await;
        if life == 4 {
            hanging_flag.store(false, Ordering::Relaxed);
        }
        server.restart();
        for turn in &mut turns {
            turn.reconnect(&server).await;
        }
        model
            .wait_until("all turns to go on", |requests| requests.len() >= asked + turns.len())
            .await;
    }
    all_complete(&server, turns).await;
    model.assert_no_violations();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_signal_ends_the_server_at_once_and_loses_nothing() {
    let hanging_flag = Arc::new(AtomicBool::new(true));
    let model = hanging_model(&hanging_flag).await;
    let mut server = server_for(&model, &ALL_AT_ONCE);
    let mut turns = start_all(&server).await;
    server.sigterm();
    server.wait_for_log("shutting down");
    server.sigterm();
    server.wait_for_exit(EXIT_TIMEOUT);
    assert!(server.log().contains("exiting at once"), "it did not wait for the turns");
    join_all(turns.iter_mut().map(FollowedTurn::read_to_the_break)).await;
    hanging_flag.store(false, Ordering::Relaxed);
    server.restart();
    for turn in &mut turns {
        turn.reconnect(&server).await;
    }
    all_complete(&server, turns).await;
    model.assert_no_violations();
}

/// A model whose responses never end while the flag is set, and that answers at once otherwise.
async fn hanging_model(hanging_flag: &Arc<AtomicBool>) -> ModelServer {
    let model = ModelServer::start().await;
    let hanging_flag = hanging_flag.clone();
    model.respond_with(move |request: &RecordedRequest| {
        if !hanging_flag.load(Ordering::Relaxed) {
            return Script::text("Here is the answer.");
        }
        match request.last_user_text().as_str() {
            "working" if request.tool_results().is_empty() => {
                Script::tool("call_1", "bash_exec", &json!({"command": "sleep 60"}))
            }
            "speaking" => Script::default().say("I begin").hang(),
            _ => Script::hang_before_headers(),
        }
    });
    model
}

/// Starts turns of all kinds and waits until each of them hangs.
async fn start_all(server: &TestServer) -> Vec<FollowedTurn> {
    let mut turns = Vec::new();
    for number in 0..TURNS_PER_KIND * KINDS.len() {
        let session = server.session().await;
        let kind = KINDS[number % KINDS.len()];
        let stream = send_and_follow(server, &session, "m1", kind).await;
        turns.push(FollowedTurn { session, turn: turn_of(&stream), seen: Vec::new(), stream });
    }
    for (number, turn) in turns.iter_mut().enumerate() {
        // A silent turn only starts its step.
        let sign = ["start-step", "text-delta", "tool-input-available"][number % KINDS.len()];
        turn.seen = turn.stream.until_seen(sign).await;
    }
    turns
}

async fn all_complete(server: &TestServer, turns: Vec<FollowedTurn>) {
    for mut turn in turns {
        let (rest, ending) = turn.stream.rest().await;
        assert_eq!(ending, Ending::Complete);
        turn.seen.extend(rest);
        assert_eq!(assert_complete(&turn.seen), TurnEnd::Finished("stop".into()), "{}", turn.turn);
        assert_eq!(status_of(server, &turn.turn).await, "completed");
        history(server, &turn.session).await;
    }
}
