//! No feature depends on wake-ups: with every in-memory notification turned off everything still happens, only later.

use serde_json::json;
use testkit::model_server::{Gate, ModelServer, Script, ScriptedCall};

use super::server_for;
use crate::contract::{TurnEnd, assert_complete, assert_replay};
use crate::events::{EventStream, kinds, text_of, turn_of};
use crate::history::{history, rows};
use crate::server::TestServer;
use crate::turn_requests::{follow_after, send, send_and_follow, status_of};

async fn start() -> (ModelServer, TestServer) {
    start_with(&[]).await
}

async fn start_with(more: &[(&str, &str)]) -> (ModelServer, TestServer) {
    let model = ModelServer::start().await;
    // A heartbeat also polls the log; here it comes too late to hide missing polls elsewhere.
    let settings = [("PILOTHOUSE_DEAF", "1"), ("CHAT_HEARTBEAT_SECONDS", "300")];
    let server = server_for(&model, &[&settings, more].concat());
    (model, server)
}

fn finished() -> TurnEnd {
    TurnEnd::Finished("stop".into())
}

#[tokio::test(flavor = "multi_thread")]
async fn without_wake_ups_a_turn_is_answered() {
    let (model, server) = start().await;
    model.enqueue(Script::text("Here I am."));
    let session = server.session().await;
    let events = server.say(&session, "hello").await.all().await;
    assert_eq!((assert_complete(&events), text_of(&events)), (finished(), "Here I am.".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_wake_ups_tools_run() {
    let (model, server) = start().await;
    model.enqueue(Script::default().say("Both at once.").call(&[
        ScriptedCall::new("call_1", "list_workspace_files", &json!({})),
        ScriptedCall::new("call_2", "bash_exec", &json!({"command": "echo hello"})),
    ]));
    model.enqueue(Script::text("Done."));
    let session = server.session().await;
    let events = server.say(&session, "do both").await.all().await;
    assert_eq!(assert_complete(&events), finished());
    let history = history(&server, &session).await;
    let results = rows(&history, "tool");
    assert!(results.len() == 2 && results.iter().all(|row| row["outcome"] == "ok"), "{results:?}");
    model.assert_no_violations();
}

#[tokio::test(flavor = "multi_thread")]
async fn without_wake_ups_a_turn_can_be_cancelled() {
    let (model, server) = start().await;
    model.enqueue(Script::default().say("I begin").hang());
    let session = server.session().await;
    let mut stream = server.say(&session, "hello").await;
    let mut events = stream.until_seen("text-delta").await;
    let report = server.cancel(&session).await;
    assert_eq!(report["cancelled"], true);
    events.extend(stream.all().await);
    assert_eq!(assert_complete(&events), TurnEnd::Aborted);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_wake_ups_a_queued_turn_runs() {
    let (model, server) = start_with(&[("MAX_RUNNING_COPILOT_TURNS_PER_USER", "1")]).await;
    let gate = Gate::closed();
    model.enqueue(Script::default().say("First.").wait_for(&gate));
    model.enqueue(Script::text("Second."));
    let (one, two) = (server.session().await, server.session().await);
    let first = server.say(&one, "one").await;
    gate.reached().await;
    let second = server.say(&two, "two").await;
    gate.open();
    assert_eq!(text_of(&first.all().await), "First.");
    let second = second.all().await;
    assert_eq!((assert_complete(&second), text_of(&second)), (finished(), "Second.".to_owned()));
    history(&server, &two).await;
    model.assert_no_violations();
}

#[tokio::test(flavor = "multi_thread")]
async fn without_wake_ups_a_follow_up_is_delivered() {
    let (model, server) = start().await;
    let gate = Gate::closed();
    model.enqueue(Script::default().say("First.").wait_for(&gate));
    model.enqueue(Script::text("Second."));
    let session = server.session().await;
    let stream = server.say(&session, "one").await;
    gate.reached().await;
    let sent = send(&server, &session, "m2", "two").send().await.expect("an answer");
    assert_eq!(sent.status(), 200);
    gate.open();
    let events = stream.all().await;
    assert_eq!(
        (assert_complete(&events), text_of(&events)),
        (finished(), "First.Second.".to_owned())
    );
    assert_eq!(model.requests()[1].last_user_text(), "two");
    history(&server, &session).await;
    model.assert_no_violations();
}

#[tokio::test(flavor = "multi_thread")]
async fn without_wake_ups_a_stream_can_be_resumed() {
    let (model, server) = start().await;
    let gate = Gate::closed();
    model.enqueue(Script::default().say("I begin").wait_for(&gate).say(" and I end."));
    let session = server.session().await;
    let mut stream = server.say(&session, "hello").await;
    let turn = turn_of(&stream);
    let mut events = stream.until_seen("text-delta").await;
    drop(stream);
    let rest = follow_after(&server, &turn, events.last().expect("events").id).await;
    let path = format!("/chat/sessions/{session}/stream");
    let whole = EventStream::of(server.get(&path).send().await.expect("an answer"));
    gate.open();
    events.extend(rest.all().await);
    assert_eq!(assert_complete(&events), finished());
    let whole = whole.all().await;
    assert_eq!((assert_replay(&whole), text_of(&whole)), (finished(), text_of(&events)));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_wake_ups_a_killed_turn_continues() {
    let (model, mut server) = start().await;
    model.enqueue(Script::default().say("I begin").hang());
    model.enqueue(Script::text("Once more, and to the end."));
    let session = server.session().await;
    let mut stream = send_and_follow(&server, &session, "m1", "hello").await;
    let turn = turn_of(&stream);
    let mut events = stream.until_seen("text-delta").await;
    server.restart();
    let seen = events.last().expect("events").id;
    events.extend(follow_after(&server, &turn, seen).await.all().await);
    assert_eq!(assert_complete(&events), finished());
    assert!(kinds(&events).contains(&"data-attempt"));
    assert_eq!(status_of(&server, &turn).await, "completed");
    history(&server, &session).await;
    model.assert_no_violations();
}
