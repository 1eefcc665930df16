//! Canceling a turn in any phase: the stream ends, no work continues, and the next message starts at once.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::model_server::{Dialect, Gate, ResponseEnd as Answered, Script};

use super::{ScriptedServer, dialects};
use crate::contract::{TurnEnd, assert_replay};
use crate::events::{Ending, EventStream, text_of, turn_of};
use crate::processes::until_processes;
use crate::scripts::bash;

/// Far more than a cancel takes, far less than any timeout it could be waiting for.
const CANCELED_WITHIN: Duration = Duration::from_secs(3);

/// Cancels the turn; the stream ends with an abort and nothing after it.
async fn assert_stops(
    setup: &ScriptedServer,
    session: &str,
    mut events: EventStream,
) -> (Vec<crate::events::ReceivedEvent>, Value) {
    let asked = Instant::now();
    let report = setup.server.cancel(session).await;
    assert_eq!(
        (&report["cancelled"], &report["turn_id"]),
        (&json!(true), &json!(turn_of(&events)))
    );
    assert_ne!(report["reason"], "cancel_published_not_confirmed");
    let (rest, ending) = events.rest().await;
    assert!(asked.elapsed() < CANCELED_WITHIN, "it took {:?}", asked.elapsed());
    assert_eq!(ending, Ending::Complete);
    assert_eq!(setup.server.read_session(session).await["active_stream"], Value::Null);
    (rest, report)
}

async fn whole(setup: &ScriptedServer, turn: &str) -> (Vec<crate::events::ReceivedEvent>, TurnEnd) {
    let path = format!("/chat/tasks/{turn}/stream");
    let events =
        EventStream::of(setup.server.get(&path).send().await.expect("an answer")).all().await;
    let end = assert_replay(&events);
    (events, end)
}

/// Asserts the notice and the partial text in the history of a canceled turn.
async fn assert_kept(setup: &ScriptedServer, session: &str, said: Option<&str>) {
    let rows = setup.messages(session).await;
    let notice = rows.last().expect("rows");
    assert_eq!(
        (&notice["role"], &notice["metadata"]["code"]),
        (&json!("system"), &json!("cancelled"))
    );
    let partial = rows.iter().find(|row| row["metadata"]["partial"] == true);
    assert_eq!(partial.and_then(|row| row["content"].as_str()), said);
}

async fn assert_next_works(setup: &ScriptedServer, session: &str) {
    setup.model.enqueue(Script::text("At once."));
    let (events, end) = setup.turn(session, "next").await;
    assert_eq!(
        (end, text_of(&events)),
        (TurnEnd::Finished("stop".to_owned()), "At once.".to_owned())
    );
    setup.model.assert_no_violations();
}

#[tokio::test]
async fn a_turn_whose_model_has_not_responded_can_be_cancelled() {
    for dialect in dialects() {
        let setup = ScriptedServer::start(dialect).await;
        let session = setup.server.session().await;
        setup.model.enqueue(Script::hang_before_headers());
        let events = setup.server.say(&session, "hang").await;
        let turn = turn_of(&events);
        setup.model.wait_for_requests(1).await;
        assert_stops(&setup, &session, events).await;
        assert_eq!(whole(&setup, &turn).await.1, TurnEnd::Aborted);
        let requests = setup.model.wait_until_idle().await;
        assert_eq!(requests[0].ending, Answered::ClientLeft, "the provider's connection is closed");
        assert_kept(&setup, &session, None).await;
        assert_next_works(&setup, &session).await;
    }
}

#[tokio::test]
async fn a_turn_cancelled_in_its_text_keeps_the_text() {
    for dialect in dialects() {
        let setup = ScriptedServer::start(dialect).await;
        let session = setup.server.session().await;
        setup.model.enqueue(Script::default().say_in("Once upon a time", 1).hang());
        let mut events = setup.server.say(&session, "tell me").await;
        let turn = turn_of(&events);
        events.until("text-delta").await;
        assert_stops(&setup, &session, events).await;
        let (replay, end) = whole(&setup, &turn).await;
        assert_eq!((end, text_of(&replay)), (TurnEnd::Aborted, "Once upon a time".to_owned()));
        let requests = setup.model.wait_until_idle().await;
        assert_eq!(requests[0].ending, Answered::ClientLeft);
        assert_kept(&setup, &session, Some("Once upon a time")).await;
        assert_next_works(&setup, &session).await;
    }
}

#[tokio::test]
async fn a_turn_that_waits_for_a_retry_can_be_cancelled() {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    setup.model.enqueue(Script::rate_limited("25"));
    let mut events = setup.server.say(&session, "wait").await;
    events.until("data-status").await;
    assert_stops(&setup, &session, events).await;
    assert_next_works(&setup, &session).await;
    assert_eq!(setup.model.requests().len(), 2, "the try it waited for was not made");
}

#[tokio::test]
async fn canceling_a_running_command_ends_its_whole_process_tree() {
    for dialect in dialects() {
        let setup = ScriptedServer::start(dialect).await;
        let session = setup.server.session().await;
        // A duration that no other process sleeps; one background child, one grandchild that has left the process
        // group.
        let length = format!("600.{}", setup.server.pid());
        let command = format!(
            "(setsid sleep {length} &) ; bash -c 'sleep {length} & sleep {length}' & sleep {length}"
        );
        setup.model.enqueue(Script::default().say("Let me see.").call(&[bash("call_a", &command)]));
        let mut events = setup.server.say(&session, "work").await;
        let turn = turn_of(&events);
        events.until("tool-input-available").await;
        until_processes(&length, 4).await;
        assert_stops(&setup, &session, events).await;
        until_processes(&length, 0).await;
        assert_eq!(whole(&setup, &turn).await.1, TurnEnd::Aborted);
        let rows = setup.messages(&session).await;
        let result = rows
            .iter()
            .find(|row| row["tool_call_id"] == "call_a")
            .expect("every call has a result");
        assert_eq!(result["role"], "tool");
        assert_eq!(rows.last().expect("rows")["metadata"]["code"], "cancelled");
        assert_next_works(&setup, &session).await;
        assert_eq!(setup.model.requests().len(), 2, "the model was not asked again");
    }
}

#[tokio::test]
async fn a_queued_turn_that_is_cancelled_leaves_the_queue() {
    let setup = ScriptedServer::with(Dialect::OpenAi, &[("NUM_COPILOT_WORKERS", "1")]).await;
    let gate = Gate::closed();
    setup.model.enqueue(Script::default().say("Busy").wait_for(&gate).say("."));
    let (busy, waiting) = (setup.server.session().await, setup.server.session().await);
    let first = setup.server.say(&busy, "first").await;
    gate.reached().await;
    let second = setup.server.say(&waiting, "second").await;
    let turn = turn_of(&second);
    let (_, report) = assert_stops(&setup, &waiting, second).await;
    assert_eq!(report["reason"], "dequeued");
    assert_eq!(whole(&setup, &turn).await.1, TurnEnd::Aborted);
    gate.open();
    assert_eq!(text_of(&first.all().await), "Busy.", "the other turn is not affected");
    assert_eq!(setup.model.requests().len(), 1, "it never reached the model");
    assert_next_works(&setup, &waiting).await;
}

#[tokio::test]
async fn canceling_a_session_cancels_its_turn_and_drops_its_follow_ups() {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    setup.model.enqueue(Script::default().say_in("Working", 1).hang());
    let mut first = setup.server.say(&session, "first").await;
    first.until("text-delta").await;
    let path = format!("/chat/sessions/{session}/stream");
    let second = setup.server.post(&path, &json!({"message": "second"})).send().await;
    assert_eq!(second.expect("an answer").status(), 200);
    let (_, report) = assert_stops(&setup, &session, first).await;
    assert_eq!(report["reason"], Value::Null);
    assert_eq!(setup.model.requests().len(), 1);
    let rows = setup.messages(&session).await;
    let asked: Vec<&str> = rows
        .iter()
        .filter(|row| row["role"] == "user")
        .filter_map(|row| row["content"].as_str())
        .collect();
    assert_eq!(asked, ["first"], "a message the model never got is not in the history");
    assert_next_works(&setup, &session).await;
}

#[tokio::test]
async fn concurrent_cancels_have_the_effect_of_one() {
    let setup = ScriptedServer::start(Dialect::Anthropic).await;
    let session = setup.server.session().await;
    setup.model.enqueue(Script::default().say_in("Working", 1).hang());
    let mut events = setup.server.say(&session, "go").await;
    let turn = turn_of(&events);
    events.until("text-delta").await;
    let reports = futures::future::join_all((0..4).map(|_| setup.server.cancel(&session))).await;
    assert!(reports.iter().any(|report| report["cancelled"] == true));
    for report in &reports {
        let nothing = report["reason"] == "no_active_task";
        assert!(nothing || report["turn_id"] == json!(turn), "{report}");
    }
    assert_eq!(events.rest().await.1, Ending::Complete);
    assert_eq!(whole(&setup, &turn).await.1, TurnEnd::Aborted);
    let rows = setup.messages(&session).await;
    assert_eq!(rows.iter().filter(|row| row["role"] == "system").count(), 1, "one notice");
    assert_eq!(setup.server.cancel(&session).await["reason"], "no_active_task");
    assert_next_works(&setup, &session).await;
}

#[tokio::test]
async fn a_cancel_while_a_turn_ends_leaves_one_end() {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    for round in 0..25 {
        let gate = Gate::closed();
        setup.model.enqueue(Script::default().say_in("Nearly", 1).wait_for(&gate));
        let mut events = setup.server.say(&session, "race").await;
        let turn = turn_of(&events);
        gate.reached().await;
        events.until("text-delta").await;
        gate.open();
        // A little later each time, so that the cancel hits every phase of the end.
        tokio::time::sleep(Duration::from_micros(200 * round)).await;
        let report = setup.server.cancel(&session).await;
        assert_eq!(events.rest().await.1, Ending::Complete);
        let end = whole(&setup, &turn).await.1;
        match report["cancelled"].as_bool() {
            Some(true) => {
                assert!(matches!(end, TurnEnd::Aborted | TurnEnd::Finished(_)), "{end:?}")
            }
            _ => assert_eq!(end, TurnEnd::Finished("stop".to_owned())),
        }
        let task =
            setup.server.get(&format!("/chat/tasks/{turn}")).send().await.expect("an answer");
        let status = crate::server::json_of(task).await["status"].clone();
        assert_eq!(status, if end == TurnEnd::Aborted { "cancelled" } else { "completed" });
    }
    assert_next_works(&setup, &session).await;
}
