//! Long work across crashes and restarts: the server is killed while background calls run and while turns wait for
//! sub-sessions.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use testkit::external_service::{Answer, Ending};
use testkit::model_server::{Gate, Script};

use super::super::guarantees::history::history;
use super::super::guarantees::{follow_after, status_of, turn_of};
use super::parking::shown;
use super::shelf::thirty_two;
use super::{Stage, calls, check, delegate, output_of, slow, unplanned, word};
use crate::contract::{End, assert_whole};
use crate::events::{Ending as StreamEnding, Events, Got, text_of};

/// Below the 10 s that a container runtime allows before SIGKILL.
const LEAVING: Duration = Duration::from_secs(9);

/// A turn with one background call, whose next model request hangs until the test says that the server has restarted.
async fn parked(tool: &'static str, answer: Answer) -> (Stage, Arc<AtomicBool>, String, Events) {
    let stage = Stage::set(&[]).await;
    stage.service.answer(tool, answer);
    let second_life = Arc::new(AtomicBool::new(false));
    let lives_again = second_life.clone();
    stage.plays(move |words, step, request| match step {
        0 => calls(&[slow("call_slow", tool)]),
        1 if !lives_again.load(Ordering::Relaxed) => Script::default().hang(),
        1 => {
            let handle = word(request, "call_slow", "background_id");
            check("call_wait", json!({"background_id": handle}))
        }
        2 => Script::text("Now I know."),
        _ => unplanned(words, step),
    });
    let (session, events) = stage.begin("work").await;
    stage.model.wait_for_requests(2).await;
    (stage, second_life, session, events)
}

/// Kills the server and starts it again; returns the complete stream of the turn.
async fn kill_and_read(
    stage: &mut Stage,
    second_life: &AtomicBool,
    mut events: Events,
) -> Vec<Got> {
    let turn = turn_of(&events);
    // The step in which the model hangs has started: no event follows it.
    let mut seen = events.until_seen("start-step").await;
    seen.extend(events.until_seen("start-step").await);
    stage.server.kill9();
    drop(events);
    second_life.store(true, Ordering::Relaxed);
    stage.server.restart();
    let last = seen.last().expect("events").id;
    seen.extend(follow_after(&stage.server, &turn, last).await.all().await);
    assert_eq!(assert_whole(&seen), End::Finished("stop".into()));
    seen
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_kill_a_repeatable_call_runs_again_with_its_key_and_background_id() {
    let (mut stage, second_life, session, events) = parked("read_slowly", Answer::never()).await;
    let first = stage.service.wait_for_calls("read_slowly", 1).await;
    // The second call is answered; the first is held until its caller has disconnected.
    stage.service.answer("read_slowly", Answer::json(json!({"lines": 7})));
    let seen = kill_and_read(&mut stage, &second_life, events).await;
    let made = stage.service.calls("read_slowly");
    assert_eq!(made.len(), 2, "once before and once after the restart");
    assert_eq!((made[0].ending, made[1].ending), (Ending::CallerLeft, Ending::Answered));
    assert_eq!(made[0].key(), made[1].key(), "the same work has the same key");
    assert_eq!(first[0].arguments(), made[1].arguments());
    let ended = output_of(&seen, "call_wait");
    assert_eq!(ended["background_id"], output_of(&seen, "call_slow")["background_id"]);
    assert_eq!(ended["status"], "completed", "{ended}");
    assert_eq!(ended["output"]["output"], json!({"lines": 7}));
    assert_eq!(shown(&seen).len(), 1, "one end is shown");
    history(&stage.server, &session).await;
    stage.model.assert_no_violations();
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_kill_an_unrepeatable_call_has_ended_as_interrupted() {
    let (mut stage, second_life, session, events) = parked("write_slowly", Answer::never()).await;
    stage.service.wait_for_calls("write_slowly", 1).await;
    stage.service.answer("write_slowly", Answer::json(json!({"rows": 1})));
    let seen = kill_and_read(&mut stage, &second_life, events).await;
    assert_eq!(stage.service.calls("write_slowly").len(), 1, "it was not repeated");
    let ended = output_of(&seen, "call_wait");
    assert_eq!(
        (&ended["status"], &ended["output"]["error"]),
        (&json!("error"), &json!("interrupted"))
    );
    let shown = shown(&seen);
    assert_eq!((shown.len(), &shown[0]["data"]["status"]), (1, &json!("error")));
    history(&stage.server, &session).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_received_before_a_kill_is_returned_after_it() {
    let gate = Gate::closed();
    let answer = Answer::json(json!({"rows": 1})).held_by(&gate);
    let (mut stage, second_life, _, mut events) = parked("write_slowly", answer).await;
    gate.open();
    let turn = turn_of(&events);
    let mut seen = events.until_seen("data-background").await;
    stage.server.kill9();
    second_life.store(true, Ordering::Relaxed);
    stage.server.restart();
    let last = seen.last().expect("events").id;
    seen.extend(follow_after(&stage.server, &turn, last).await.all().await);
    assert_eq!(assert_whole(&seen), End::Finished("stop".into()));
    let ended = output_of(&seen, "call_wait");
    assert_eq!(
        (&ended["status"], &ended["output"]["output"]),
        (&json!("completed"), &json!({"rows": 1}))
    );
    assert_eq!(stage.service.calls("write_slowly").len(), 1);
    assert_eq!(shown(&seen).len(), 1, "its end is shown once");
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_kill_an_evicted_background_call_is_not_restarted() {
    let mut stage = Stage::set(&[]).await;
    let second_life = Arc::new(AtomicBool::new(false));
    let lives_again = second_life.clone();
    stage.plays(move |words, step, _| match step {
        0 => calls(&[slow("call_oldest", "read_slowly")]),
        1 => calls(&thirty_two()),
        2 if !lives_again.load(Ordering::Relaxed) => Script::default().hang(),
        2 => check("call_list", json!({"list": true})),
        3 => Script::text("Thirty-two are at work again."),
        _ => unplanned(words, step),
    });
    let (_, mut events) = stage.begin("work").await;
    let turn = turn_of(&events);
    let mut seen = events.until_seen("data-background").await;
    stage.model.wait_for_requests(3).await;
    stage.server.kill9();
    second_life.store(true, Ordering::Relaxed);
    stage.server.restart();
    let last = seen.last().expect("events").id;
    seen.extend(follow_after(&stage.server, &turn, last).await.all().await);
    assert_eq!(assert_whole(&seen), End::Finished("stop".into()));
    assert_eq!(output_of(&seen, "call_list")["count"], 32);
    let made = stage.service.calls("read_slowly");
    let of_oldest = made.iter().filter(|call| call.work() == "call_oldest").count();
    assert_eq!((of_oldest, made.len()), (1, 1 + 2 * 32), "all others ran once in each process");
}

/// A parent that waits for a sub-session whose model request hangs until the server has restarted.
async fn waiting(settings: &[(&str, &str)]) -> (Stage, Arc<AtomicBool>, String, Events) {
    let stage = Stage::set(settings).await;
    let second_life = Arc::new(AtomicBool::new(false));
    let lives_again = second_life.clone();
    stage.plays(move |words, step, request| match (words, step) {
        ("parent", 0) => calls(&[delegate("call_child", "child")]),
        ("parent", 1) => Script::text(&word(request, "call_child", "response")),
        ("child", 0) if !lives_again.load(Ordering::Relaxed) => Script::default().hang(),
        ("child", 0) => Script::text("Done at last."),
        _ => unplanned(words, step),
    });
    let (session, events) = stage.begin("parent").await;
    stage.model.wait_for_requests(2).await;
    (stage, second_life, session, events)
}

/// Asserts that there is one sub-session with one turn, and that its response is in both streams.
async fn assert_one_child(stage: &Stage, parent: &str, turn: &str, mut seen: Vec<Got>) {
    let last = seen.last().expect("events").id;
    seen.extend(follow_after(&stage.server, turn, last).await.all().await);
    assert_eq!(assert_whole(&seen), End::Finished("stop".into()));
    assert_eq!(text_of(&seen), "Done at last.");
    let children = stage.children(parent).await;
    let [child] = &children[..] else { panic!("one child, not {children:?}") };
    let rows = history(&stage.server, child).await;
    let asked: Vec<_> = rows.iter().filter(|row| row["role"] == "user").collect();
    assert_eq!(asked.len(), 1, "it was asked once: {rows:?}");
    assert_eq!(rows.last().expect("rows")["content"], "Done at last.");
    assert_eq!(status_of(&stage.server, turn).await, "completed");
    history(&stage.server, parent).await;
    stage.model.assert_no_violations();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_waiting_parent_continues_with_the_same_sub_session() {
    // One concurrency permit and one worker: the turns taken over after the crash must not block each other.
    for settings in
        [&[][..], &[("NUM_COPILOT_WORKERS", "1"), ("MAX_RUNNING_COPILOT_TURNS_PER_USER", "1")]]
    {
        let (mut stage, second_life, session, mut events) = waiting(settings).await;
        let turn = turn_of(&events);
        let seen = events.until_seen("tool-input-available").await;
        stage.server.kill9();
        second_life.store(true, Ordering::Relaxed);
        stage.server.restart();
        assert_one_child(&stage, &session, &turn, seen).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_parent_survives_four_graceful_restarts() {
    let (mut stage, second_life, session, mut events) = waiting(&[]).await;
    let turn = turn_of(&events);
    let mut seen = events.until_seen("tool-input-available").await;
    // One more than the crashes a turn may survive.
    for life in 1..=4 {
        let asked = stage.model.requests().len();
        stage.server.sigterm();
        assert_eq!(stage.server.wait_for_exit(LEAVING).code(), Some(0), "life {life}");
        let (rest, ending) = events.rest().await;
        assert_eq!(ending, StreamEnding::Broken);
        seen.extend(rest);
        second_life.store(life == 4, Ordering::Relaxed);
        stage.server.restart();
        events = follow_after(&stage.server, &turn, seen.last().expect("events").id).await;
        stage.model.wait_for_requests(asked + 1).await;
    }
    drop(events);
    assert_one_child(&stage, &session, &turn, seen).await;
}
