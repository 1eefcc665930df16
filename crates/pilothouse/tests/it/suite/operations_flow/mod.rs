//! Operations, from the call that begins one to the answer that its result leads to: the real binary between a model
//! that plays scripts and the service of an external tool.

mod busy;
mod cancel;
mod early;
mod faults;
mod life;
mod limits;
mod refused;
mod results;
mod webhook;

use reqwest::{RequestBuilder, Response};
use serde_json::{Value, json};
use testkit::external_service::{Answer, ExternalService, Received};
use testkit::model_server::{Dialect, ModelServer, RecordedRequest, Script};

use super::scripted::settings_for;
use super::{ENGINE, guarantees};
use crate::contract::{End, assert_replay};
use crate::events::{Events, Got};
use crate::server::{Api, TestServer, json_of};

/// The long-running tool, and what the service says of its work.
pub(crate) const TOOL: &str = "render";
/// The same for work that must not be asked for twice.
pub(crate) const RENDER_ONCE: &str = "render_once";
/// A tool whose result is awaited.
pub(crate) const ORDINARY: &str = "weigh";
pub(crate) const CALL: &str = "call_render";
pub(crate) const WORK: &str = "a film";
/// What the internal key is in these tests.
pub(crate) const KEY: &str = "internal-internal-internal-internal";
/// What the model says when the operation was begun, and when it has ended.
pub(crate) const BEGUN: &str = "It is being rendered.";
pub(crate) const DONE: &str = "The film is ready.";

pub(crate) struct Workshop {
    pub(crate) model: ModelServer,
    pub(crate) service: ExternalService,
    pub(crate) server: TestServer,
}

/// An operation as the client knows it.
#[derive(Clone, Debug)]
pub(crate) struct Begun {
    pub(crate) session: String,
    pub(crate) operation: String,
    pub(crate) task: String,
    /// The stream of the turn that began it.
    pub(crate) turn: Vec<Got>,
}

impl Workshop {
    pub(crate) async fn start() -> Self {
        Self::with(&[]).await
    }

    /// With further settings of the server. The service accepts the work and says nothing more.
    pub(crate) async fn with(more: &[(&str, &str)]) -> Self {
        Self::speaking(Dialect::OpenAi, more).await
    }

    pub(crate) async fn speaking(dialect: Dialect, more: &[(&str, &str)]) -> Self {
        let model = ModelServer::start().await;
        model.respond_with(answer);
        let service = service().await;
        service.answer(TOOL, Answer::accepted());
        let (url, file) = (model.url(dialect), service.tools_file());
        let mut settings = settings_for(dialect, &url);
        settings.extend([("CHAT_TOOLS_FILE", file.as_str()), ("CHAT_INTERNAL_API_KEY", KEY)]);
        settings.extend(more);
        let server = TestServer::with(ENGINE, &settings);
        Self { model, service, server }
    }

    /// A turn in a new session that begins an operation and ends.
    pub(crate) async fn begin(&self) -> Begun {
        let session = self.server.session().await;
        self.begin_in(&session).await
    }

    pub(crate) async fn begin_in(&self, session: &str) -> Begun {
        begin(&self.server, session).await
    }

    /// The same, and the service has taken the work on: the operation rests.
    pub(crate) async fn begin_and_rest(&self) -> Begun {
        let begun = self.begin().await;
        self.rests(&begun).await;
        begun
    }

    /// Returns when nothing of the server is at work for the operation any more.
    pub(crate) async fn rests(&self, begun: &Begun) {
        guarantees::eventually("a rest", async || {
            has_rested(&self.server.log(), begun).then_some(())
        })
        .await;
    }

    /// How the service was asked for an operation's work.
    pub(crate) async fn call_of(&self, operation: &str) -> Received {
        let is_it = |call: &Received| call.operation_id() == operation;
        let calls =
            self.service.wait_until(TOOL, "the work", |calls| calls.iter().any(is_it)).await;
        calls.into_iter().find(is_it).expect("it was waited for")
    }

    pub(crate) async fn task(&self, task: &str) -> Value {
        let asked = self.server.get(&format!("/chat/tasks/{task}")).send().await;
        json_of(asked.expect("an answer")).await
    }

    pub(crate) async fn follow(&self, task: &str) -> Events {
        follow(&self.server, task).await
    }

    /// The whole stream of the operation, checked.
    pub(crate) async fn to_the_end(&self, task: &str) -> (Vec<Got>, End) {
        let events = self.follow(task).await.all().await;
        let end = assert_replay(&events);
        (events, end)
    }

    /// Says what an operation came to, and is heard.
    pub(crate) async fn complete(&self, operation: &str, completion: &Value) {
        let answer = webhook(&self.server, operation, completion).send().await.expect("an answer");
        assert_eq!(json_of(answer).await["status"], "ok");
    }

    /// The one row of the history that answers the call.
    pub(crate) async fn row(&self, session: &str) -> Value {
        let rows = guarantees::history::history(&self.server, session).await;
        let mut found: Vec<Value> =
            rows.into_iter().filter(|row| row["tool_call_id"] == CALL).collect();
        assert_eq!(found.len(), 1, "one call has one result: {found:?}");
        found.pop().expect("one")
    }

    /// Requests to the model that go on after an operation.
    pub(crate) fn continuations(&self) -> Vec<RecordedRequest> {
        self.model.requests().into_iter().filter(goes_on).collect()
    }
}

pub(crate) async fn service() -> ExternalService {
    let tools = [
        (TOOL, json!({"long_running": true})),
        (RENDER_ONCE, json!({"long_running": true, "effect": "once"})),
        (ORDINARY, json!({})),
    ];
    ExternalService::start(&tools).await
}

/// Calls the tool for every new request of a person, and has something to say about everything else.
pub(crate) fn answer(request: &RecordedRequest) -> Script {
    match goes_on(request) {
        true => Script::text(DONE),
        false if request.tool_results().is_empty() => {
            Script::tool(CALL, TOOL, &json!({"work": WORK}))
        }
        false => Script::text(BEGUN),
    }
}

/// Whether the model is asked to go on after an operation.
pub(crate) fn goes_on(request: &RecordedRequest) -> bool {
    request.last_user_text().starts_with("[Operation ")
}

pub(crate) async fn begin(server: &Api, session: &str) -> Begun {
    let turn = server.say(session, "make me a film").await.all().await;
    let output = &super::scripted::output(&turn, CALL);
    assert_eq!(output["type"], "operation_started", "{output}");
    let id = |name: &str| output[name].as_str().expect("an id").to_owned();
    let (operation, task) = (id("operation_id"), id("task_id"));
    Begun { session: session.to_owned(), operation, task, turn }
}

/// Whether the log says that nothing of the server is at work for the operation any more.
pub(crate) fn has_rested(log: &str, begun: &Begun) -> bool {
    log.lines().any(|line| line.contains(&begun.task) && line.contains("waits for its completion"))
}

pub(crate) async fn follow(server: &Api, task: &str) -> Events {
    let asked = server.get(&format!("/chat/tasks/{task}/stream")).send().await;
    Events::of(asked.expect("an answer"))
}

pub(crate) fn webhook(server: &Api, operation: &str, completion: &Value) -> RequestBuilder {
    let path = format!("/chat/operations/{operation}/complete");
    server.post(&path, completion).header("x-api-key", KEY)
}

/// The result that most tests report.
pub(crate) fn film() -> Value {
    json!({"success": true, "result": {"file": "film.mp4"}})
}

/// What a stream shows as the result of the operation: exactly one.
pub(crate) fn shown(events: &[Got]) -> &Value {
    let mut outputs = events.iter().filter(|got| {
        got.chunk["type"] == "tool-output-available" && got.chunk["toolCallId"] == CALL
    });
    let only = outputs.next().expect("the result is shown");
    assert!(outputs.next().is_none(), "the result is shown once: {events:?}");
    &only.chunk["output"]
}

/// A row's content as JSON.
pub(crate) fn content(row: &Value) -> Value {
    serde_json::from_str(row["content"].as_str().expect("a content")).expect("JSON")
}

pub(crate) fn finished() -> End {
    End::Finished("stop".to_owned())
}

pub(crate) async fn status(response: Result<Response, reqwest::Error>) -> u16 {
    response.expect("an answer").status().as_u16()
}
