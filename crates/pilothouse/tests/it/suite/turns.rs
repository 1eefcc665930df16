//! Starting turns: both body formats, idempotency, canceling, regenerating.

use serde_json::{Value, json};

use super::ENGINE;
use crate::events::{Ending, EventStream, kinds, text_of};
use crate::server::{TestServer, refusal};

const LONG: &str = "/stream count=100000 size=10 delay_ms=20";

fn ui(id: &str, text: &str) -> Value {
    json!({"id": "chat", "trigger": "submit-message", "messages": [
        {"id": "old", "role": "assistant", "parts": [{"type": "text", "text": "before"}]},
        {"id": id, "role": "user", "parts": [{"type": "data-x", "data": 1}, {"type": "text", "text": text}]},
    ]})
}

#[tokio::test]
async fn a_turn_streams_in_the_order_of_the_contract() {
    let server = TestServer::start(ENGINE);
    let session = server.session().await;
    let mut events = server.say(&session, "/stream count=3 size=4").await;
    for (name, value) in [
        ("content-type", "text/event-stream; charset=utf-8"),
        ("cache-control", "no-cache, no-transform"),
        ("x-accel-buffering", "no"),
        ("x-vercel-ai-ui-message-stream", "v1"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(events.headers[name], value);
    }
    let (all, ending) = events.rest().await;
    assert_eq!(ending, Ending::Complete);
    assert!(events.raw().starts_with("retry: 1000\n\n"));
    assert!(events.raw().ends_with("\n\ndata: [DONE]\n\n"));
    let ids: Vec<u64> = all.iter().map(|got| got.id).collect();
    assert_eq!(ids, (1..=all.len() as u64).collect::<Vec<_>>(), "ids are dense");
    let kinds = kinds(&all);
    assert_eq!(kinds.first(), Some(&"start"));
    assert_eq!(kinds.last(), Some(&"finish"));
    assert_eq!(text_of(&all).chars().count(), 12);
    assert!(!events.raw().contains(":null"), "absent optional fields are omitted");
}

#[tokio::test]
async fn both_body_formats_start_a_turn() {
    let server = TestServer::start(ENGINE);
    let session = server.session().await;
    let path = format!("/chat/sessions/{session}/stream");
    let plain = json!({
        "message": "/stream count=1 size=5", "is_user_message": true, "context": {"url": "https://x.example"},
        "file_ids": [], "mode": "fast", "model": "advanced", "message_id": "m1",
    });
    for body in [plain, ui("m2", "/stream count=1 size=5")] {
        let events = EventStream::of(server.post(&path, &body).send().await.expect("an answer"));
        assert_eq!(text_of(&events.all().await).len(), 5);
    }
    let messages = server.read_session(&session).await["messages"].clone();
    let users: Vec<&str> = messages
        .as_array()
        .expect("a list")
        .iter()
        .filter(|message| message["role"] == "user")
        .map(|message| message["content"].as_str().expect("text"))
        .collect();
    assert_eq!(users, ["/stream count=1 size=5"; 2]);
}

#[tokio::test]
async fn the_same_message_id_joins_the_turn_and_another_text_is_refused() {
    let server = TestServer::start(ENGINE);
    let session = server.session().await;
    let path = format!("/chat/sessions/{session}/stream");
    let first = EventStream::of(
        server.post(&path, &ui("m1", "/stream count=20 size=5")).send().await.expect("an answer"),
    );
    let turn = first.headers["x-turn-id"].clone();
    let first = first.all().await;
    let again = EventStream::of(
        server.post(&path, &ui("m1", "/stream count=20 size=5")).send().await.expect("an answer"),
    );
    assert_eq!(again.headers["x-turn-id"], turn);
    assert_eq!(again.all().await, first, "the same turn, event by event");
    let other = server.post(&path, &ui("m1", "something else")).send().await.expect("an answer");
    assert_eq!(refusal(other).await, (409, "MESSAGE_ID_REUSED".into()));
    let messages = server.read_session(&session).await["messages"].clone();
    assert_eq!(messages.as_array().expect("a list").len(), 2, "one question, one answer");
}

#[tokio::test]
async fn many_concurrent_equal_messages_make_one_turn() {
    let server = TestServer::start(ENGINE);
    let session = server.session().await;
    let path = format!("/chat/sessions/{session}/stream");
    let body = ui("m1", "/stream count=5 size=5");
    let sends = (0..10).map(|_| server.post(&path, &body).send());
    let mut turns = Vec::new();
    for response in futures::future::join_all(sends).await {
        let events = EventStream::of(response.expect("an answer"));
        turns.push(events.headers["x-turn-id"].clone());
        assert_eq!(text_of(&events.all().await).len(), 25);
    }
    turns.dedup();
    assert_eq!(turns.len(), 1);
}

#[tokio::test]
async fn a_message_to_a_busy_session_is_answered_by_the_running_turn() {
    let server = TestServer::start(ENGINE);
    let session = server.session().await;
    let mut events = server.say(&session, "/stream count=20 size=5 delay_ms=20").await;
    let mut seen = events.until_seen("text-delta").await;
    let path = format!("/chat/sessions/{session}/stream");
    let sent = server.post(&path, &json!({"message": "/stream count=1 size=7"})).send().await;
    assert_eq!(sent.expect("an answer").status(), 200);
    seen.extend(events.rest().await.0);
    assert_eq!(kinds(&seen).last(), Some(&"finish"));
    assert_eq!(text_of(&seen).len(), 20 * 5 + 7, "both answers");
}

#[tokio::test]
async fn a_cancelled_turn_ends_with_abort_and_the_cancel_is_confirmed() {
    let server = TestServer::start(ENGINE);
    let session = server.session().await;
    let mut events = server.say(&session, LONG).await;
    events.until("text-delta").await;
    let report = server.cancel(&session).await;
    assert_eq!(report["cancelled"], true);
    assert_eq!(report["reason"], Value::Null);
    assert_eq!(report["turn_id"], report["task_id"]);
    assert_eq!(report["turn_id"], events.headers["x-turn-id"].to_str().expect("text"));
    let (rest, ending) = events.rest().await;
    assert_eq!(ending, Ending::Complete);
    assert_eq!(kinds(&rest).last(), Some(&"abort"));
    assert_eq!(server.read_session(&session).await["active_stream"], Value::Null);
    let nothing = server.cancel(&session).await;
    assert_eq!(
        (&nothing["cancelled"], &nothing["reason"]),
        (&json!(false), &json!("no_active_task"))
    );
}

#[tokio::test]
async fn a_client_that_leaves_does_not_stop_the_turn() {
    let server = TestServer::start(ENGINE);
    let session = server.session().await;
    let mut events = server.say(&session, "/stream count=30 size=5 delay_ms=10").await;
    events.until("text-delta").await;
    drop(events);
    let resumed =
        server.get(&format!("/chat/sessions/{session}/stream")).send().await.expect("an answer");
    assert_eq!(text_of(&EventStream::of(resumed).all().await).len(), 150);
}

#[tokio::test]
async fn regenerating_answers_the_last_message_again() {
    let server = TestServer::start(ENGINE);
    let session = server.session().await;
    let path = format!("/chat/sessions/{session}/stream");
    let nothing = json!({"messages": [], "trigger": "regenerate-message"});
    let response = server.post(&path, &nothing).send().await.expect("an answer");
    assert_eq!(refusal(response).await, (422, "NOTHING_TO_REGENERATE".into()));
    let first = server.say(&session, "/stream count=2 size=5").await.all().await;
    let again = json!({
        "messages": [], "trigger": "regenerate-message", "messageId": first[0].chunk["messageId"],
    });
    let again =
        EventStream::of(server.post(&path, &again).send().await.expect("an answer")).all().await;
    assert_eq!(text_of(&again), text_of(&first));
    assert_ne!(again[0].chunk["messageId"], first[0].chunk["messageId"]);
    let messages = server.read_session(&session).await["messages"].clone();
    assert_eq!(messages.as_array().expect("a list").len(), 2, "the old answer is gone");
}
