//! Requests about one turn: sent, followed, replayed, and its status.

use reqwest::RequestBuilder;
use serde_json::json;

use crate::events::EventStream;
use crate::server::{Api, TestServer, json_of};

/// A message with a client's id: sending it again joins its turn from the first event.
pub(crate) fn send(server: &Api, session: &str, id: &str, text: &str) -> RequestBuilder {
    let body = json!({"message": text, "message_id": id});
    server.post(&format!("/chat/sessions/{session}/stream"), &body)
}

pub(crate) async fn send_and_follow(
    server: &Api,
    session: &str,
    id: &str,
    text: &str,
) -> EventStream {
    EventStream::of(send(server, session, id, text).send().await.expect("an answer"))
}

/// The stream of a turn after this event.
pub(crate) async fn follow_after(server: &Api, turn: &str, seen: u64) -> EventStream {
    let request = server.get(&format!("/chat/tasks/{turn}/stream"));
    let request = request.header("last-event-id", seen.to_string());
    EventStream::of(request.send().await.expect("an answer"))
}

/// The complete turn as a merged replay.
pub(crate) async fn replay(server: &TestServer, turn: &str) -> EventStream {
    let request = server.get(&format!("/chat/tasks/{turn}/stream"));
    EventStream::of(request.send().await.expect("an answer"))
}

pub(crate) async fn status_of(server: &Api, turn: &str) -> String {
    let task = server.get(&format!("/chat/tasks/{turn}")).send().await.expect("an answer");
    json_of(task).await["status"].as_str().expect("a status").to_owned()
}
