//! Work that takes longer than a response: background calls, and sub-sessions. The model is scripted by text: its
//! response depends on the last message of its session, so that one server can play a whole tree of sessions.

mod background_calls;
mod background_limits;
mod canceling_trees;
mod permissions;
mod restarts;
mod sub_sessions;
mod waiting_turns;
mod watchdog;

use std::time::Duration;

use serde_json::{Value, json};
use testkit::external_service::{ExternalService, ServiceResponse};
use testkit::model_server::{Dialect, ModelServer, RecordedRequest, Script, ScriptedCall};

use super::ENGINE;
use crate::contract::{TurnEnd, assert_complete};
use crate::events::{EventStream, ReceivedEvent, output};
use crate::scripts::settings_for;
use crate::server::{TestServer, json_of};

/// How soon everything below a canceled turn has ended after the response to the cancel.
pub(crate) const ENDED_WITHIN: Duration = Duration::from_secs(1);

/// A server, its model, and the service behind its external tools.
pub(crate) struct LongWorkServer {
    pub(crate) model: ModelServer,
    pub(crate) service: ExternalService,
    pub(crate) server: TestServer,
}

impl LongWorkServer {
    /// With the tools `read_slowly` (repeatable), `write_slowly` (not repeatable), and additional settings. The tool
    /// budget is one second, and the service holds every call until the test says otherwise.
    pub(crate) async fn with(settings: &[(&str, &str)]) -> Self {
        let tools = [("read_slowly", json!({"effect": "idempotent"})), ("write_slowly", json!({}))];
        let service = ExternalService::start(&tools).await;
        for (tool, _) in &tools {
            service.answer(tool, ServiceResponse::never());
        }
        let model = ModelServer::start().await;
        let (url, file) = (model.openai_url(), service.tools_file());
        let mut environment = settings_for(Dialect::OpenAi, &url);
        environment.extend([("CHAT_TOOLS_FILE", &*file), ("CHAT_TOOL_BUDGET_SECONDS", "1")]);
        environment.extend(settings);
        let server = TestServer::with(ENGINE, &environment);
        Self { model, service, server }
    }

    /// Scripts the model by the last message of the session and the number of steps since.
    pub(crate) fn script_model(
        &self,
        part: impl Fn(&str, usize, &RecordedRequest) -> Script + Send + Sync + 'static,
    ) {
        script_model(&self.model, part);
    }

    /// Sends a first message in a new session and returns the session and its open stream.
    pub(crate) async fn begin(&self, words: &str) -> (String, EventStream) {
        let session = self.server.session().await;
        let events = self.server.say(&session, words).await;
        (session, events)
    }

    /// The same, and reads the complete stream of a turn that succeeds.
    pub(crate) async fn turn(&self, words: &str) -> (String, Vec<ReceivedEvent>) {
        let (session, events) = self.begin(words).await;
        (session, finished(events).await)
    }

    /// The sub-sessions of a session, according to the list of sessions.
    pub(crate) async fn children(&self, parent: &str) -> Vec<String> {
        let path = "/chat/sessions?limit=100";
        let list = json_of(self.server.get(path).send().await.expect("an answer")).await;
        let sessions = list["sessions"].as_array().expect("a list").iter();
        let children = sessions.filter(|session| session["parent_session_id"] == parent);
        children.map(|session| session["id"].as_str().expect("an id").to_owned()).collect()
    }
}

pub(crate) fn script_model(
    model: &ModelServer,
    part: impl Fn(&str, usize, &RecordedRequest) -> Script + Send + Sync + 'static,
) {
    model.respond_with(move |request| {
        let since = request.messages().iter().rev().take_while(|row| row["role"] != "user");
        let steps = since.filter(|row| row["role"] == "assistant").count();
        part(&last_message_of(request), steps, request)
    });
}

/// The last message of the session. The request puts context about the session in front of it.
pub(crate) fn last_message_of(request: &RecordedRequest) -> String {
    let text = request.last_user_text();
    text.rsplit("\n\n").next().unwrap_or_default().to_owned()
}

/// The number of requests of a session whose last message is this.
pub(crate) fn steps_of(requests: &[RecordedRequest], words: &str) -> usize {
    requests.iter().filter(|request| last_message_of(request) == words).count()
}

/// All events of a stream that must end well.
pub(crate) async fn finished(events: EventStream) -> Vec<ReceivedEvent> {
    let events = events.all().await;
    assert_eq!(assert_complete(&events), TurnEnd::Finished("stop".into()));
    events
}

/// The result of a call, as sent to the model.
pub(crate) fn tool_result(request: &RecordedRequest, call: &str) -> Value {
    let results = request.tool_results();
    let found = results.iter().find(|(id, _)| id == call);
    let (_, content) = found.unwrap_or_else(|| panic!("nothing of {call} in {results:?}"));
    serde_json::from_str(content).unwrap_or_else(|_| panic!("not JSON: {content}"))
}

/// A text field of the result that was sent to the model.
pub(crate) fn result_text(request: &RecordedRequest, call: &str, name: &str) -> String {
    let told = tool_result(request, call);
    told[name].as_str().unwrap_or_else(|| panic!("no {name} in {told}")).to_owned()
}

/// The final output of a call, without preliminary ones.
pub(crate) fn output_of(events: &[ReceivedEvent], call: &str) -> Value {
    let last: Vec<ReceivedEvent> =
        events.iter().filter(|got| got.chunk["preliminary"] != true).cloned().collect();
    output(&last, call).clone()
}

pub(crate) fn slow(id: &str, tool: &str) -> ScriptedCall {
    ScriptedCall::new(id, tool, &json!({"work": id}))
}

/// A call that checks a background call.
pub(crate) fn check(id: &str, arguments: Value) -> Script {
    Script::tool(id, "check_background_tool", &arguments)
}

/// Delegates a task and waits for its response as long as allowed.
pub(crate) fn delegate(id: &str, prompt: &str) -> ScriptedCall {
    delegate_with(id, json!({"prompt": prompt, "wait_for_result": 300}))
}

pub(crate) fn delegate_with(id: &str, arguments: Value) -> ScriptedCall {
    ScriptedCall::new(id, "run_sub_session", &arguments)
}

pub(crate) fn look(id: &str, arguments: Value) -> Script {
    Script::tool(id, "get_sub_session_result", &arguments)
}

pub(crate) fn calls(calls: &[ScriptedCall]) -> Script {
    Script::default().call(calls)
}

/// The error for a model request that the test did not script.
pub(crate) fn unscripted(words: &str, step: usize) -> Script {
    Script::error(400, "unplanned", &format!("no script for step {step} of {words:?}"))
}
