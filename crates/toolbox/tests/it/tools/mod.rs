//! The tools as the engine calls them: by name, with arguments as JSON.

mod agents;
mod delegation;
mod examples;
mod external;
mod fake_services;
pub(crate) mod folder;
mod recipe;
mod shell;
mod web;
mod workspace;

use std::sync::Arc;
use std::time::Duration;

use pilothouse_toolbox::egress::{EgressClient, EgressOptions};
use pilothouse_toolbox::generators::{self, GeneratorOptions};
use pilothouse_toolbox::providers::{self, CONTEXT_TOKENS, ProviderOptions};
use pilothouse_toolbox::sandbox::Sandbox;
use pilothouse_toolbox::tools::{self, ToolDefinition, ToolServices, TypedTool, docs};
use ports::tool::{ToolContext, ToolError};
use ports::{AgentGenerator, Tool};
use protocol::limits::MAX_TOOL_WAIT;
use protocol::permissions::Permissions;
use protocol::response::ToolResponse;
use protocol::session::Owner;
use protocol::{CallId, SessionId, TurnId, UserId};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use agents::{FixedClock, MemoryStore};
use fake_services::FakeServices;
use folder::Folder;

struct Toolbox {
    files: Arc<Folder>,
    tools: Vec<Arc<dyn Tool>>,
}

impl Toolbox {
    async fn open() -> Self {
        Self::with(EgressClient::new(EgressOptions::default()).expect("a client")).await
    }

    async fn with(egress: EgressClient) -> Self {
        let files = Arc::new(Folder::new());
        let sandbox = Some(Sandbox::detect().await.expect("bubblewrap is installed and works"));
        let services = ToolServices { sandbox, ..built_with(files.clone(), egress) };
        Self { files, tools: tools::all(&services).expect("good tools") }
    }

    fn tool(&self, name: &str) -> &Arc<dyn Tool> {
        self.tools.iter().find(|tool| tool.spec().name == name).expect(name)
    }

    /// The response as JSON; tool errors become error responses, as in the history.
    async fn call(&self, name: &str, arguments: Value) -> Value {
        self.call_in(context(), name, arguments).await
    }

    async fn call_in(&self, context: ToolContext, name: &str, arguments: Value) -> Value {
        answer(self.tool(name).call(arguments, context).await)
    }
}

/// Without the sandbox, whose detection takes a moment.
fn built_with(files: Arc<Folder>, egress: EgressClient) -> ToolServices {
    let store = Arc::new(MemoryStore::default());
    ToolServices {
        files,
        egress,
        sandbox: None,
        docs: docs::UserGuide::bundled(),
        external: Vec::new(),
        library: store.clone(),
        listings: store.clone(),
        reviews: store,
        blocks: Vec::new().into(),
        generator: dummy_generator(),
        clock: Arc::new(FixedClock),
        max_wait: MAX_TOOL_WAIT,
        callback_base: None,
    }
}

fn dummy_generator() -> Arc<dyn AgentGenerator> {
    let provider = providers::connect(&ProviderOptions::Offline { context_tokens: CONTEXT_TOKENS });
    let provider = provider.expect("the offline pilot needs nothing");
    generators::connect(&GeneratorOptions::Dummy, provider, &[]).expect("the dummy needs nothing")
}

fn answer(called: Result<ToolResponse, ToolError>) -> Value {
    let response = match called {
        Ok(response) => response,
        Err(ToolError::TellModel { code, message }) => ToolResponse::error(code, message),
        Err(ToolError::Fatal(message)) => panic!("fatal: {message}"),
    };
    serde_json::to_value(response).expect("a response is JSON")
}

fn context() -> ToolContext {
    ToolContext {
        owner: Owner::User(UserId::from("tester")),
        session_id: SessionId::from("session"),
        turn_id: TurnId::from("turn"),
        call_id: CallId::from("call"),
        idempotency_key: "turn/0/call".into(),
        dry_run: false,
        budget: Some(Duration::from_secs(60)),
        cancel: CancellationToken::new(),
        permissions: Permissions::default(),
        operation: None,
        services: Arc::new(FakeServices::default()).services(),
    }
}

fn dry_run() -> ToolContext {
    ToolContext { dry_run: true, ..context() }
}

#[tokio::test]
async fn invalid_calls_are_explained_to_the_model() {
    let toolbox = Toolbox::open().await;
    let asked = toolbox.call("ask_question", json!({"questions": [{"question": " "}]})).await;
    assert_eq!(asked["error"], "invalid_arguments");
    let unknown = toolbox.call("get_doc_page", json!({"path": "streaming"})).await;
    assert_eq!(unknown["error"], "doc_not_found");
    assert!(unknown["message"].as_str().expect("text").contains("streaming-and-resume.md"));
}

#[tokio::test]
async fn questions_have_a_keyword_and_an_example() {
    let toolbox = Toolbox::open().await;
    let questions = json!([
        {"question": "Where?", "keyword": "place", "example": "Lisbon"},
        {"question": "How often?", "options": ["daily", "weekly"]},
    ]);
    let asked = toolbox.call("ask_question", json!({"questions": questions})).await;
    assert_eq!(
        asked["questions"],
        json!([
            {"question": "Where?", "keyword": "place", "example": "Lisbon"},
            {"question": "How often?", "keyword": "answer_2", "example": "daily / weekly"},
        ])
    );
}
