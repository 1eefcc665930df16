//! Operations, from the call that starts one to the response that its result leads to: the real binary between a
//! scripted model and the service of an external tool.

mod cancel;
mod concurrent_turns;
mod early_results;
mod faults;
mod limits;
mod refused_calls;
mod results;
mod success;
mod webhook;

use reqwest::{RequestBuilder, Response};
use serde_json::{Value, json};
use testkit::external_service::{ExternalService, ReceivedCall, ServiceResponse};
use testkit::model_server::{Dialect, ModelServer, RecordedRequest, Script};

use super::{ENGINE, scripted};
use crate::contract::{TurnEnd, assert_replay};
use crate::events::{EventStream, ReceivedEvent};
use crate::history::history;
use crate::scripts::settings_for;
use crate::server::{Api, TestServer, json_of};

/// The long-running tool.
pub(crate) const TOOL: &str = "render";
/// A long-running tool whose work must not be requested twice.
pub(crate) const RENDER_ONCE: &str = "render_once";
/// A tool whose result the turn waits for.
pub(crate) const ORDINARY: &str = "weigh";
pub(crate) const CALL: &str = "call_render";
pub(crate) const WORK: &str = "a film";
/// The internal API key of these tests.
pub(crate) const KEY: &str = "internal-internal-internal-internal";
/// The model's text after the operation was started, and after it has ended.
pub(crate) const STARTED_TEXT: &str = "It is being rendered.";
pub(crate) const DONE: &str = "The film is ready.";

pub(crate) struct OperationServer {
    pub(crate) model: ModelServer,
    pub(crate) service: ExternalService,
    pub(crate) server: TestServer,
}

/// The ids of a started operation.
#[derive(Clone, Debug)]
pub(crate) struct StartedOperation {
    pub(crate) session: String,
    pub(crate) operation: String,
    pub(crate) task: String,
    /// The stream of the turn that started it.
    pub(crate) turn: Vec<ReceivedEvent>,
}

impl OperationServer {
    pub(crate) async fn start() -> Self {
        Self::with(&[]).await
    }

    /// With additional settings of the server. The service accepts the work and sends no result.
    pub(crate) async fn with(more: &[(&str, &str)]) -> Self {
        Self::with_dialect(Dialect::OpenAi, more).await
    }

    pub(crate) async fn with_dialect(dialect: Dialect, more: &[(&str, &str)]) -> Self {
        let model = ModelServer::start().await;
        model.respond_with(answer);
        let service = service().await;
        service.answer(TOOL, ServiceResponse::accepted());
        let (url, file) = (model.url(dialect), service.tools_file());
        let mut settings = settings_for(dialect, &url);
        settings.extend([("CHAT_TOOLS_FILE", file.as_str()), ("CHAT_INTERNAL_API_KEY", KEY)]);
        settings.extend(more);
        let server = TestServer::with(ENGINE, &settings);
        Self { model, service, server }
    }

    /// Runs a turn in a new session that starts an operation.
    pub(crate) async fn begin(&self) -> StartedOperation {
        let session = self.server.session().await;
        self.begin_in(&session).await
    }

    pub(crate) async fn begin_in(&self, session: &str) -> StartedOperation {
        begin(&self.server, session).await
    }

    /// The same, and waits until the service has accepted the work and the operation waits for its result.
    pub(crate) async fn start_and_wait(&self) -> StartedOperation {
        let begun = self.begin().await;
        self.wait_until_waiting(&begun).await;
        begun
    }

    /// Returns when the operation waits for its result, so that no job of the server runs for it.
    pub(crate) async fn wait_until_waiting(&self, begun: &StartedOperation) {
        crate::server::eventually("a rest", async || {
            is_waiting(&self.server.log(), begun).then_some(())
        })
        .await;
    }

    /// The request for the operation's work that the service received.
    pub(crate) async fn call_of(&self, operation: &str) -> ReceivedCall {
        let is_it = |call: &ReceivedCall| call.operation_id() == operation;
        let calls =
            self.service.wait_until(TOOL, "the work", |calls| calls.iter().any(is_it)).await;
        calls.into_iter().find(is_it).expect("it was waited for")
    }

    pub(crate) async fn task(&self, task: &str) -> Value {
        let asked = self.server.get(&format!("/chat/tasks/{task}")).send().await;
        json_of(asked.expect("an answer")).await
    }

    pub(crate) async fn follow(&self, task: &str) -> EventStream {
        follow(&self.server, task).await
    }

    /// The complete stream of the operation, checked.
    pub(crate) async fn to_the_end(&self, task: &str) -> (Vec<ReceivedEvent>, TurnEnd) {
        let events = self.follow(task).await.all().await;
        let end = assert_replay(&events);
        (events, end)
    }

    /// Reports the result of an operation, which must be accepted.
    pub(crate) async fn complete(&self, operation: &str, completion: &Value) {
        let answer = webhook(&self.server, operation, completion).send().await.expect("an answer");
        assert_eq!(json_of(answer).await["status"], "ok");
    }

    /// The only row of the history with the result of the call.
    pub(crate) async fn row(&self, session: &str) -> Value {
        let rows = history(&self.server, session).await;
        let mut found: Vec<Value> =
            rows.into_iter().filter(|row| row["tool_call_id"] == CALL).collect();
        assert_eq!(found.len(), 1, "one call has one result: {found:?}");
        found.pop().expect("one")
    }

    /// Requests to the model that continue the conversation after an operation.
    pub(crate) fn continuations(&self) -> Vec<RecordedRequest> {
        self.model.requests().into_iter().filter(is_continuation).collect()
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

/// Calls the tool for a user's message, and answers every other request with text.
pub(crate) fn answer(request: &RecordedRequest) -> Script {
    match is_continuation(request) {
        true => Script::text(DONE),
        false if request.tool_results().is_empty() => {
            Script::tool(CALL, TOOL, &json!({"work": WORK}))
        }
        false => Script::text(STARTED_TEXT),
    }
}

/// Whether a request continues the conversation after an operation.
pub(crate) fn is_continuation(request: &RecordedRequest) -> bool {
    request.last_user_text().starts_with("[Operation ")
}

pub(crate) async fn begin(server: &Api, session: &str) -> StartedOperation {
    let turn = server.say(session, "make me a film").await.all().await;
    let output = &crate::events::output(&turn, CALL);
    assert_eq!(output["type"], "operation_started", "{output}");
    let id = |name: &str| output[name].as_str().expect("an id").to_owned();
    let (operation, task) = (id("operation_id"), id("task_id"));
    StartedOperation { session: session.to_owned(), operation, task, turn }
}

/// Whether the operation waits for its result, according to the log.
pub(crate) fn is_waiting(log: &str, begun: &StartedOperation) -> bool {
    log.lines().any(|line| line.contains(&begun.task) && line.contains("waits for its completion"))
}

pub(crate) async fn follow(server: &Api, task: &str) -> EventStream {
    let asked = server.get(&format!("/chat/tasks/{task}/stream")).send().await;
    EventStream::of(asked.expect("an answer"))
}

pub(crate) fn webhook(server: &Api, operation: &str, completion: &Value) -> RequestBuilder {
    let path = format!("/chat/operations/{operation}/complete");
    server.post(&path, completion).header("x-api-key", KEY)
}

/// The result that most tests report.
pub(crate) fn film() -> Value {
    json!({"success": true, "result": {"file": "film.mp4"}})
}

/// The only result of the operation in a stream.
pub(crate) fn shown(events: &[ReceivedEvent]) -> &Value {
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

pub(crate) fn finished() -> TurnEnd {
    TurnEnd::Finished("stop".to_owned())
}

pub(crate) async fn status(response: Result<Response, reqwest::Error>) -> u16 {
    response.expect("an answer").status().as_u16()
}
