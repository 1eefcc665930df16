//! Messages sent while a turn runs: each reaches the model with the next step, or its sender gets the reason why not,
//! and none is lost or delivered twice.

mod concurrent_senders;
mod continued_turns;
mod crashes;
mod delivery;
mod endings;
mod sending;

use reqwest::Response;
use serde_json::{Value, json};
use testkit::model_server::{RecordedRequest, ScriptedCall};

use super::scripted::{self, ScriptedServer};
use crate::events::ReceivedEvent;
use crate::server::{Api, json_of};

/// Sends a message that only a running turn may accept.
async fn try_push(server: &Api, session: &str, id: &str, text: &str) -> Response {
    let body = json!({"message": text, "message_id": id});
    let path = format!("/chat/sessions/{session}/messages/pending");
    server.post(&path, &body).send().await.expect("an answer")
}

async fn push(server: &Api, session: &str, id: &str, text: &str) -> Value {
    json_of(try_push(server, session, id, text).await).await
}

async fn list(server: &Api, session: &str) -> Value {
    let path = format!("/chat/sessions/{session}/messages/pending");
    json_of(server.get(&path).send().await.expect("an answer")).await
}

/// Id and state of the follow-ups of a session, in the order they were sent.
async fn states(server: &Api, session: &str) -> Vec<(String, String)> {
    let list = list(server, session).await;
    let word = |value: &Value| value.as_str().expect("a word").to_owned();
    let follow_ups = list["follow_ups"].as_array().expect("a list");
    follow_ups.iter().map(|one| (word(&one["id"]), word(&one["state"]))).collect()
}

/// The metadata in the stream that answers a follow-up; the rest of that stream is checked.
async fn read_follow_up_stream(response: Response) -> Value {
    assert_eq!(response.status(), 200);
    let turn = response.headers()["x-turn-id"].to_str().expect("text").to_owned();
    let body = response.text().await.expect("a body that ends");
    let data: Vec<&str> = body.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    let (end, chunks) = data.split_last().expect("events");
    assert_eq!(*end, "[DONE]");
    let chunks: Vec<Value> =
        chunks.iter().map(|chunk| serde_json::from_str(chunk).expect("a chunk")).collect();
    let kinds: Vec<&Value> = chunks.iter().map(|chunk| &chunk["type"]).collect();
    assert_eq!(kinds, ["start", "start-step", "finish-step", "finish"]);
    let about = chunks[0]["messageMetadata"]["followUp"].clone();
    assert_eq!(about["turnId"], json!(turn), "it names the turn that answers");
    about
}

/// The texts in each report of a delivery.
fn drained(events: &[ReceivedEvent]) -> Vec<Vec<&str>> {
    let reports = events.iter().filter(|got| got.chunk["type"] == "data-pending-drained");
    reports
        .map(|got| {
            let messages = got.chunk["data"]["messages"].as_array().expect("a list");
            assert_eq!(got.chunk["data"]["count"], messages.len());
            messages.iter().filter_map(|message| message["text"].as_str()).collect()
        })
        .collect()
}

/// Role and content of the rows of a history.
fn role_and_content(rows: &[Value]) -> Vec<(&str, &str)> {
    rows.iter()
        .map(|row| (row["role"].as_str().expect("a role"), row["content"].as_str().unwrap_or("")))
        .collect()
}

/// Whether the messages of a request contain this text.
fn request_contains(request: &RecordedRequest, text: &str) -> bool {
    request.body["messages"].to_string().contains(text)
}

fn check_background(id: &str) -> ScriptedCall {
    ScriptedCall::new(id, "check_background_tool", &json!({"list": true}))
}
