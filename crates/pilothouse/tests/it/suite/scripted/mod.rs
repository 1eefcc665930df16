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
use testkit::model_server::{Dialect, ModelServer, Script, ScriptedCall};
use testkit::scale::scaled;

use super::{ENGINE, auth};
use crate::contract::{TurnEnd, assert_complete};
use crate::events::ReceivedEvent;
use crate::scripts::settings_for;
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
