//! Long work across crashes and restarts: the server is killed while background calls run and while turns wait for
//! sub-sessions.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use testkit::external_service::{ReceivedCallEnd, ServiceResponse};
use testkit::model_server::{Gate, Script};

use super::background_calls::shown;
use super::background_limits::thirty_two;
use super::{LongWorkServer, calls, check, delegate, output_of, result_text, slow, unscripted};
use crate::contract::{TurnEnd, assert_complete};
use crate::events::{Ending as StreamEnding, EventStream, ReceivedEvent, text_of, turn_of};
use crate::history::history;
use crate::turn_requests::{follow_after, status_of};

/// Below the 10 s that a container runtime allows before SIGKILL.
const EXIT_TIMEOUT: Duration = Duration::from_secs(9);

/// A turn with one background call, whose next model request hangs until the test says that the server has restarted.
async fn start_with_background_call(
    tool: &'static str,
    answer: ServiceResponse,
) -> (LongWorkServer, Arc<AtomicBool>, String, EventStream) {
    let setup = LongWorkServer::with(&[]).await;
    setup.service.answer(tool, answer);
    let restarted = Arc::new(AtomicBool::new(false));
    let has_restarted = restarted.clone();
    setup.script_model(move |words, step, request| match step {
        0 => calls(&[slow("call_slow", tool)]),
        1 if !has_restarted.load(Ordering::Relaxed) => Script::default().hang(),
        1 => {
            let handle = result_text(request, "call_slow", "background_id");
            check("call_wait", json!({"background_id": handle}))
        }
        2 => Script::text("Now I know."),
        _ => unscripted(words, step),
    });
    let (session, events) = setup.begin("work").await;
    setup.model.wait_for_requests(2).await;
    (setup, restarted, session, events)
}

/// Kills the server and starts it again; returns the complete stream of the turn.
async fn kill_and_read(
    setup: &mut LongWorkServer,
    restarted: &AtomicBool,
    mut events: EventStream,
) -> Vec<ReceivedEvent> {
    let turn = turn_of(&events);
    // The step in which the model hangs has started: no event follows it.
    let mut seen = events.until_seen("start-step").await;
    seen.extend(events.until_seen("start-step").await);
    setup.server.kill9();
    drop(events);
    restarted.store(true, Ordering::Relaxed);
    setup.server.restart();
    let last = seen.last().expect("events").id;
    seen.extend(follow_after(&setup.server, &turn, last).await.all().await);
    assert_eq!(assert_complete(&seen), TurnEnd::Finished("stop".into()));
    seen
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_kill_a_repeatable_call_runs_again_with_its_key_and_background_id() {
    let (mut setup, restarted, session, events) =
        start_with_background_call("read_slowly", ServiceResponse::never()).await;
    let first = setup.service.wait_for_calls("read_slowly", 1).await;
    // The second call is answered; the first is held until its caller has disconnected.
    setup.service.answer("read_slowly", ServiceResponse::json(json!({"lines": 7})));
    let seen = kill_and_read(&mut setup, &restarted, events).await;
    let made = setup.service.calls("read_slowly");
    assert_eq!(made.len(), 2, "once before and once after the restart");
    assert_eq!(
        (made[0].ending, made[1].ending),
        (ReceivedCallEnd::CallerLeft, ReceivedCallEnd::Answered)
    );
    assert_eq!(made[0].key(), made[1].key(), "the same work has the same key");
    assert_eq!(first[0].arguments(), made[1].arguments());
    let ended = output_of(&seen, "call_wait");
    assert_eq!(ended["background_id"], output_of(&seen, "call_slow")["background_id"]);
    assert_eq!(ended["status"], "completed", "{ended}");
    assert_eq!(ended["output"]["output"], json!({"lines": 7}));
    assert_eq!(shown(&seen).len(), 1, "one end is shown");
    history(&setup.server, &session).await;
    setup.model.assert_no_violations();
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_kill_an_unrepeatable_call_has_ended_as_interrupted() {
    let (mut setup, restarted, session, events) =
        start_with_background_call("write_slowly", ServiceResponse::never()).await;
    setup.service.wait_for_calls("write_slowly", 1).await;
    setup.service.answer("write_slowly", ServiceResponse::json(json!({"rows": 1})));
    let seen = kill_and_read(&mut setup, &restarted, events).await;
    assert_eq!(setup.service.calls("write_slowly").len(), 1, "it was not repeated");
    let ended = output_of(&seen, "call_wait");
    assert_eq!(
        (&ended["status"], &ended["output"]["error"]),
        (&json!("error"), &json!("interrupted"))
    );
    let shown = shown(&seen);
    assert_eq!((shown.len(), &shown[0]["data"]["status"]), (1, &json!("error")));
    history(&setup.server, &session).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_received_before_a_kill_is_returned_after_it() {
    let gate = Gate::closed();
    let answer = ServiceResponse::json(json!({"rows": 1})).held_by(&gate);
    let (mut setup, restarted, _, mut events) =
        start_with_background_call("write_slowly", answer).await;
    gate.open();
    let turn = turn_of(&events);
    let mut seen = events.until_seen("data-background").await;
    setup.server.kill9();
    restarted.store(true, Ordering::Relaxed);
    setup.server.restart();
    let last = seen.last().expect("events").id;
    seen.extend(follow_after(&setup.server, &turn, last).await.all().await);
    assert_eq!(assert_complete(&seen), TurnEnd::Finished("stop".into()));
    let ended = output_of(&seen, "call_wait");
    assert_eq!(
        (&ended["status"], &ended["output"]["output"]),
        (&json!("completed"), &json!({"rows": 1}))
    );
    assert_eq!(setup.service.calls("write_slowly").len(), 1);
    assert_eq!(shown(&seen).len(), 1, "its end is shown once");
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_kill_an_evicted_background_call_is_not_restarted() {
    let mut setup = LongWorkServer::with(&[]).await;
    let restarted = Arc::new(AtomicBool::new(false));
    let has_restarted = restarted.clone();
    setup.script_model(move |words, step, _| match step {
        0 => calls(&[slow("call_oldest", "read_slowly")]),
        1 => calls(&thirty_two()),
        2 if !has_restarted.load(Ordering::Relaxed) => Script::default().hang(),
        2 => check("call_list", json!({"list": true})),
        3 => Script::text("Thirty-two are at work again."),
        _ => unscripted(words, step),
    });
    let (_, mut events) = setup.begin("work").await;
    let turn = turn_of(&events);
    let mut seen = events.until_seen("data-background").await;
    setup.model.wait_for_requests(3).await;
    setup.server.kill9();
    restarted.store(true, Ordering::Relaxed);
    setup.server.restart();
    let last = seen.last().expect("events").id;
    seen.extend(follow_after(&setup.server, &turn, last).await.all().await);
    assert_eq!(assert_complete(&seen), TurnEnd::Finished("stop".into()));
    assert_eq!(output_of(&seen, "call_list")["count"], 32);
    let made = setup.service.calls("read_slowly");
    let of_oldest = made.iter().filter(|call| call.work() == "call_oldest").count();
    assert_eq!((of_oldest, made.len()), (1, 1 + 2 * 32), "all others ran once in each process");
}

/// A parent that waits for a sub-session whose model request hangs until the server has restarted.
async fn start_waiting_parent(
    settings: &[(&str, &str)],
) -> (LongWorkServer, Arc<AtomicBool>, String, EventStream) {
    let setup = LongWorkServer::with(settings).await;
    let restarted = Arc::new(AtomicBool::new(false));
    let has_restarted = restarted.clone();
    setup.script_model(move |words, step, request| match (words, step) {
        ("parent", 0) => calls(&[delegate("call_child", "child")]),
        ("parent", 1) => Script::text(&result_text(request, "call_child", "response")),
        ("child", 0) if !has_restarted.load(Ordering::Relaxed) => Script::default().hang(),
        ("child", 0) => Script::text("Done at last."),
        _ => unscripted(words, step),
    });
    let (session, events) = setup.begin("parent").await;
    setup.model.wait_for_requests(2).await;
    (setup, restarted, session, events)
}

/// Asserts that there is one sub-session with one turn, and that its response is in both streams.
async fn assert_one_child(
    setup: &LongWorkServer,
    parent: &str,
    turn: &str,
    mut seen: Vec<ReceivedEvent>,
) {
    let last = seen.last().expect("events").id;
    seen.extend(follow_after(&setup.server, turn, last).await.all().await);
    assert_eq!(assert_complete(&seen), TurnEnd::Finished("stop".into()));
    assert_eq!(text_of(&seen), "Done at last.");
    let children = setup.children(parent).await;
    let [child] = &children[..] else { panic!("one child, not {children:?}") };
    let rows = history(&setup.server, child).await;
    let asked: Vec<_> = rows.iter().filter(|row| row["role"] == "user").collect();
    assert_eq!(asked.len(), 1, "it was asked once: {rows:?}");
    assert_eq!(rows.last().expect("rows")["content"], "Done at last.");
    assert_eq!(status_of(&setup.server, turn).await, "completed");
    history(&setup.server, parent).await;
    setup.model.assert_no_violations();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_waiting_parent_continues_with_the_same_sub_session() {
    // One concurrency permit and one worker: the turns taken over after the crash must not block each other.
    for settings in
        [&[][..], &[("NUM_COPILOT_WORKERS", "1"), ("MAX_RUNNING_COPILOT_TURNS_PER_USER", "1")]]
    {
        let (mut setup, restarted, session, mut events) = start_waiting_parent(settings).await;
        let turn = turn_of(&events);
        let seen = events.until_seen("tool-input-available").await;
        setup.server.kill9();
        restarted.store(true, Ordering::Relaxed);
        setup.server.restart();
        assert_one_child(&setup, &session, &turn, seen).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_parent_survives_four_graceful_restarts() {
    let (mut setup, restarted, session, mut events) = start_waiting_parent(&[]).await;
    let turn = turn_of(&events);
    let mut seen = events.until_seen("tool-input-available").await;
    // One more than the crashes a turn may survive.
    for life in 1..=4 {
        let asked = setup.model.requests().len();
        setup.server.sigterm();
        assert_eq!(setup.server.wait_for_exit(EXIT_TIMEOUT).code(), Some(0), "life {life}");
        let (rest, ending) = events.rest().await;
        assert_eq!(ending, StreamEnding::Broken);
        seen.extend(rest);
        restarted.store(life == 4, Ordering::Relaxed);
        setup.server.restart();
        events = follow_after(&setup.server, &turn, seen.last().expect("events").id).await;
        setup.model.wait_for_requests(asked + 1).await;
    }
    drop(events);
    assert_one_child(&setup, &session, &turn, seen).await;
}
