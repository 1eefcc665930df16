//! Guarantees that hold across crashes and faults, each tested with the fault itself.

mod acceptance;
mod clock;
mod crash_loop;
pub(crate) mod history;
mod kill_sweep;
mod one_end;
mod shutdown;
mod side_effects;
mod start_up;
mod without_wake_ups;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use reqwest::RequestBuilder;
use serde_json::{Value, json};
use testkit::model_server::{Dialect, ModelServer};

use super::ENGINE;
use super::scripted::settings_for;
pub(crate) use super::scripted::turn_of;
use crate::events::EventStream;
use crate::server::{Api, TEST_TIMEOUT, TestServer, json_of};

/// The settings that point a server at a scripted model, and additional ones.
pub(crate) fn model_settings<'a>(
    url: &'a str,
    more: &[(&'a str, &'a str)],
) -> Vec<(&'a str, &'a str)> {
    let mut settings = settings_for(Dialect::OpenAi, url);
    settings.extend(more);
    settings
}

pub(crate) fn server_for(model: &ModelServer, more: &[(&str, &str)]) -> TestServer {
    TestServer::with(ENGINE, &model_settings(&model.openai_url(), more))
}

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
async fn replay(server: &TestServer, turn: &str) -> EventStream {
    let request = server.get(&format!("/chat/tasks/{turn}/stream"));
    EventStream::of(request.send().await.expect("an answer"))
}

pub(crate) async fn status_of(server: &Api, turn: &str) -> String {
    let task = server.get(&format!("/chat/tasks/{turn}")).send().await.expect("an answer");
    json_of(task).await["status"].as_str().expect("a status").to_owned()
}

/// Rows of one role.
pub(crate) fn rows<'a>(history: &'a [Value], role: &str) -> Vec<&'a Value> {
    history.iter().filter(|row| row["role"] == role).collect()
}

/// A file in any workspace; no other session may use its name.
fn workspace_file(server: &TestServer, name: &str) -> Option<PathBuf> {
    let folders = std::fs::read_dir(server.folder().join("data/workspaces")).ok()?;
    folders.filter_map(|folder| Some(folder.ok()?.path().join(name))).find(|path| path.exists())
}

/// Polls until the value is there.
pub(crate) async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + TEST_TIMEOUT;
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(Instant::now() < deadline, "timed out waiting for {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
