//! A server whose agents from words come from a scripted generator service.

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use testkit::external_service::{ExternalService, ServiceResponse};
use testkit::model_server::{Dialect, ModelServer, Script, ScriptedCall};

use super::ENGINE;
use super::long_running::output_of;
use super::operations_flow::{DONE, KEY, follow, webhook};
use crate::agent_fixtures::{ApiUser, adder};
use crate::contract::{TurnEnd, assert_replay};
use crate::events::ReceivedEvent;
use crate::scripts::settings_for;
use crate::server::{TestServer, json_of};

/// The endpoints of the generator.
pub(crate) const DECOMPOSE: &str = "decompose-description";
pub(crate) const GENERATE: &str = "generate-agent";
pub(crate) const UPDATE: &str = "update-agent";
pub(crate) const CUSTOMIZE: &str = "template-modification";

pub(crate) struct WordsServer {
    pub(crate) model: ModelServer,
    pub(crate) generator: ExternalService,
    pub(crate) server: TestServer,
    calls: AtomicU32,
}

/// A call that became an operation.
#[derive(Debug)]
pub(crate) struct Begun {
    pub(crate) session: String,
    pub(crate) call: String,
    pub(crate) operation: String,
    pub(crate) task: String,
}

impl WordsServer {
    /// The generator plans one step and makes an agent that adds 10.
    pub(crate) async fn start() -> Self {
        let (model, generator) = (ModelServer::start().await, ExternalService::start(&[]).await);
        model.respond_with(|_| Script::text(DONE));
        generator.answer(DECOMPOSE, plan());
        generator.answer(GENERATE, made(&adder("Adder", 10)));
        let (url, port) = (model.url(Dialect::OpenAi), generator.address().port().to_string());
        let mut settings = settings_for(Dialect::OpenAi, &url);
        settings.extend([
            ("AGENTGENERATOR_HOST", "127.0.0.1"),
            ("AGENTGENERATOR_PORT", &port),
            ("CHAT_INTERNAL_API_KEY", KEY),
        ]);
        let server = TestServer::with(ENGINE, &settings);
        Self { model, generator, server, calls: AtomicU32::new(0) }
    }

    pub(crate) fn user(&self) -> ApiUser<'_> {
        ApiUser::local(&self.server)
    }

    /// The output of a call in a turn of its own. The model reads the guide in the same step.
    pub(crate) async fn call(
        &self,
        session: &str,
        tool: &str,
        arguments: &Value,
    ) -> (String, Value) {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let (guide, call) = (format!("guide_{number}"), format!("call_{number}"));
        self.model.enqueue(Script::default().call(&[
            ScriptedCall::new(&guide, "get_agent_building_guide", &json!({})),
            ScriptedCall::new(&call, tool, arguments),
        ]));
        let events = self.server.say(session, &format!("Make {call}.")).await.all().await;
        let output = output_of(&events, &call);
        (call, output)
    }

    /// Starts an operation in a new session.
    pub(crate) async fn begin(&self, tool: &str, arguments: &Value) -> Begun {
        let session = self.server.session().await;
        let (call, output) = self.call(&session, tool, arguments).await;
        assert_eq!(output["type"], "operation_started", "{output}");
        let id = |name: &str| output[name].as_str().expect("an id").to_owned();
        Begun { session, call, operation: id("operation_id"), task: id("task_id") }
    }

    /// Starts an operation and waits until its service has accepted the work.
    pub(crate) async fn begin_accepted(&self, tool: &str, arguments: &Value) -> Begun {
        let begun = self.begin(tool, arguments).await;
        crate::server::eventually("an accepted operation", async || {
            let log = self.server.log();
            let waits = |line: &str| {
                line.contains(&begun.task) && line.contains("waits for its completion")
            };
            log.lines().any(waits).then_some(())
        })
        .await;
        begun
    }

    /// The complete stream of an operation, checked.
    pub(crate) async fn stream(&self, begun: &Begun) -> Vec<ReceivedEvent> {
        let events = follow(&self.server, &begun.task).await.all().await;
        assert_eq!(assert_replay(&events), TurnEnd::Finished("stop".to_owned()));
        events
    }

    /// The result of an operation, once the chat has continued with it.
    pub(crate) async fn result(&self, begun: &Begun) -> Value {
        let events = self.stream(begun).await;
        let result = output_of(&events, &begun.call);
        let session = self.server.read_session(&begun.session).await;
        let rows = session["messages"].as_array().expect("a list");
        let row = rows.iter().find(|row| row["tool_call_id"] == begun.call.as_str());
        let content = row.expect("a row")["content"].as_str().expect("text");
        let stored: Value = serde_json::from_str(content).expect("JSON");
        assert_eq!(stored, result, "the history and the stream agree");
        result
    }

    /// Starts an operation and returns its result.
    pub(crate) async fn make(&self, tool: &str, arguments: &Value) -> Value {
        let begun = self.begin(tool, arguments).await;
        self.result(&begun).await
    }

    /// Reports a result, which must be accepted.
    pub(crate) async fn complete(&self, begun: &Begun, completion: &Value) {
        let sent = webhook(&self.server, &begun.operation, completion).send().await;
        assert_eq!(json_of(sent.expect("an answer")).await["status"], "ok");
    }

    /// The names of the agents in the library.
    pub(crate) async fn library(&self) -> Vec<String> {
        let listed = self.user().get("/library/agents").await;
        let agents = listed["agents"].as_array().expect("a list").iter();
        agents.map(|agent| agent["name"].as_str().expect("a name").to_owned()).collect()
    }

    pub(crate) async fn versions(&self, graph: &str) -> usize {
        let versions = self.user().get(&format!("/graphs/{graph}/versions")).await;
        versions.as_array().expect("a list").len()
    }
}

pub(crate) fn plan() -> ServiceResponse {
    let steps = json!([{"description": "Add 10 to a number", "action": "add_block"}]);
    ServiceResponse::json(json!({"success": true, "type": "instructions", "steps": steps}))
}

pub(crate) fn made(agent: &Value) -> ServiceResponse {
    ServiceResponse::json(json!({"success": true, "agent_json": agent}))
}

/// The completion that reports an agent.
pub(crate) fn reported(agent: &Value) -> Value {
    json!({"success": true, "result": {"agent_json": agent, "message": "Made."}})
}
