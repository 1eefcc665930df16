//! Turns with a scripted model, in both wire formats: the real binary on one side, a strict provider on the other.

mod cancel;
mod compaction;
mod concurrency_limits;
mod faults;
mod histories;
mod limits;
mod responses;
mod silence;
mod tools;

use serde_json::Value;
use testkit::model_server::{
    API_KEY, Dialect, MODEL, ModelServer, Script, ScriptedCall, TITLE_MODEL,
};
use testkit::scale::scaled;

use super::guarantees::{self, history};
use super::{ENGINE, auth};
use crate::contract::{TurnEnd, assert_complete};
use crate::events::{EventStream, ReceivedEvent};
use crate::server::{Engine, TestServer};

/// The wire formats to test. The wire format does not depend on the engine, so one format is enough on the second
/// engine; `make soak` tests both there, too.
pub(crate) fn dialects() -> impl Iterator<Item = Dialect> {
    let both = ENGINE == Engine::Embedded || scaled(1) > 1;
    [Dialect::OpenAi, Dialect::Anthropic].into_iter().take(if both { 2 } else { 1 })
}

/// A server and its scripted model.
pub(crate) struct ScriptedServer {
    pub(crate) model: ModelServer,
    pub(crate) server: TestServer,
}

impl ScriptedServer {
    pub(crate) async fn start(dialect: Dialect) -> Self {
        Self::with(dialect, &[]).await
    }

    /// With additional settings of the server.
    pub(crate) async fn with(dialect: Dialect, settings: &[(&str, &str)]) -> Self {
        let model = ModelServer::start().await;
        let url = model.url(dialect);
        let mut environment = settings_for(dialect, &url);
        environment.extend(settings);
        let server = TestServer::with(ENGINE, &environment);
        Self { model, server }
    }

    /// Enqueues both scripts of a turn that makes these calls and then responds.
    pub(crate) fn calls(&self, calls: &[ScriptedCall]) {
        self.model.enqueue(Script::default().call(calls));
        self.model.enqueue(Script::text("Done."));
    }

    /// Sends a message, reads the complete stream, and checks it.
    pub(crate) async fn turn(&self, session: &str, text: &str) -> (Vec<ReceivedEvent>, TurnEnd) {
        let events = self.server.say(session, text).await.all().await;
        let end = assert_complete(&events);
        (events, end)
    }

    pub(crate) async fn messages(&self, session: &str) -> Vec<Value> {
        let session = self.server.read_session(session).await;
        session["messages"].as_array().expect("a list").clone()
    }
}

/// The settings that point a server at a scripted model.
pub(crate) fn settings_for(dialect: Dialect, url: &str) -> Vec<(&str, &str)> {
    let mut settings = vec![("CHAT_MODEL", MODEL), ("CHAT_TITLE_MODEL", TITLE_MODEL)];
    settings.extend(match dialect {
        Dialect::OpenAi => vec![("CHAT_BASE_URL", url), ("CHAT_API_KEY", API_KEY)],
        Dialect::Anthropic => vec![
            ("CHAT_PROVIDER", "anthropic"),
            ("ANTHROPIC_BASE_URL", url),
            ("ANTHROPIC_API_KEY", API_KEY),
        ],
    });
    settings
}

/// The turn that a stream belongs to.
pub(crate) fn turn_of(events: &EventStream) -> String {
    events.headers["x-turn-id"].to_str().expect("text").to_owned()
}

/// The first chunk of a type.
pub(crate) fn first<'a>(events: &'a [ReceivedEvent], kind: &str) -> &'a Value {
    let found = events.iter().find(|got| got.chunk["type"] == kind);
    &found.unwrap_or_else(|| panic!("no {kind} in {events:?}")).chunk
}

/// The output of a call, by call id.
pub(crate) fn output<'a>(events: &'a [ReceivedEvent], call: &str) -> &'a Value {
    let found = events.iter().find(|got| {
        got.chunk["type"] == "tool-output-available" && got.chunk["toolCallId"] == call
    });
    &found.unwrap_or_else(|| panic!("no output of {call} in {events:?}")).chunk["output"]
}

pub(crate) fn bash(id: &str, command: &str) -> ScriptedCall {
    ScriptedCall::new(id, "bash_exec", &serde_json::json!({"command": command}))
}

/// A call of a tool that needs no sandbox, no login and no network.
pub(crate) fn todo(id: &str, content: &str) -> ScriptedCall {
    let todos =
        serde_json::json!([{"content": content, "status": "pending", "activeForm": content}]);
    ScriptedCall::new(id, "todo_write", &serde_json::json!({"todos": todos}))
}
