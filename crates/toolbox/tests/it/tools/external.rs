//! External tools against a real HTTP service.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Response, StatusCode};
use axum::routing::post;
use pilothouse_toolbox::egress::{EgressClient, EgressOptions};
use pilothouse_toolbox::external;
use pilothouse_toolbox::tools::{self, ToolServices};
use ports::Tool;
use ports::tool::{OperationHandle, ToolContext};
use protocol::session::Owner;
use protocol::tool::{LongRunning, TimeBudget, ToolEffect};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::folder::Folder;
use super::{answer, built_with, context, dry_run};

const PATIENCE: Duration = Duration::from_secs(20);

/// A service that responds according to the path, and records its requests.
struct Service {
    url: String,
    requests: Arc<Mutex<Vec<(HeaderMap, Value)>>>,
    /// Receives the start and the end of a call that never responds.
    hanging: mpsc::UnboundedReceiver<&'static str>,
    _serving: JoinSet<()>,
}

#[derive(Clone)]
struct Seen {
    requests: Arc<Mutex<Vec<(HeaderMap, Value)>>>,
    hanging: mpsc::UnboundedSender<&'static str>,
}

impl Service {
    async fn start() -> Self {
        let (hears, hanging) = mpsc::unbounded_channel();
        let seen = Seen { requests: Arc::default(), hanging: hears };
        let requests = seen.requests.clone();
        let app = Router::new().route("/{how}", post(serve)).with_state(seen);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let mut serving = JoinSet::new();
        serving.spawn(async move { axum::serve(listener, app).await.expect("it serves") });
        Self { url, requests, hanging, _serving: serving }
    }

    fn requests(&self) -> Vec<(HeaderMap, Value)> {
        self.requests.lock().expect("not poisoned").clone()
    }

    async fn hears(&mut self) -> &'static str {
        let heard = tokio::time::timeout(PATIENCE, self.hanging.recv()).await;
        heard.expect("in time").expect("the service lives")
    }

    fn tool(&self, how: &str, more: &Value) -> Arc<dyn Tool> {
        let mut described = json!({
            "name": "weather",
            "description": "Tells the weather.",
            "parameters": {"type": "object", "properties": {"place": {"type": "string"}}},
            "url": format!("{}/{how}", self.url),
        });
        for (key, value) in more.as_object().expect("an object") {
            described[key] = value.clone();
        }
        let tools = built(&json!({"tools": [described]})).expect("good tools");
        tools.last().expect("the external one comes last").clone()
    }
}

fn built(file: &Value) -> Result<Vec<Arc<dyn Tool>>, String> {
    let external = external::load(&file.to_string())?;
    let egress = EgressClient::new(EgressOptions::default()).expect("a client");
    let callback_base = Some("https://pilot.example/".to_owned());
    let services = built_with(Arc::new(Folder::new()), egress);
    tools::all(&ToolServices { external, callback_base, ..services })
}

async fn serve(
    State(seen): State<Seen>,
    Path(how): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let asked = serde_json::from_slice(&body).expect("JSON");
    seen.requests.lock().expect("not poisoned").push((headers, asked));
    let (status, kind, body): (_, _, Body) = match how.as_str() {
        "json" => (StatusCode::OK, "application/json", r#"{"sky": "blue"}"#.into()),
        "text" => (StatusCode::CREATED, "text/plain; charset=utf-8", "123".into()),
        "nothing" => (StatusCode::NO_CONTENT, "application/json", Body::empty()),
        "accepts" => (StatusCode::ACCEPTED, "application/json", "{}".into()),
        "refuses" => {
            (StatusCode::UNPROCESSABLE_ENTITY, "text/plain", "hush-hush x ".repeat(999).into())
        }
        "moves" => (StatusCode::FOUND, "text/plain", Body::empty()),
        "floods" => (StatusCode::OK, "application/json", vec![b' '; 1024 * 1024 + 1].into()),
        "hangs" => {
            let _ended = Ended(seen.hanging.clone());
            let _ = seen.hanging.send("began");
            std::future::pending().await
        }
        other => panic!("no such answer: {other}"),
    };
    let response = Response::builder().status(status).header("content-type", kind);
    response.header("location", "/json").body(body).expect("a response")
}

/// Dropped when the connection of its request closes.
struct Ended(mpsc::UnboundedSender<&'static str>);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.send("ended");
    }
}

async fn call(tool: &Arc<dyn Tool>, context: ToolContext) -> Value {
    let call = tool.call(json!({"place": "Lisbon"}), context);
    answer(tokio::time::timeout(PATIENCE, call).await.expect("it answers"))
}

fn in_operation() -> ToolContext {
    let handle = OperationHandle { operation_id: "op-1".into(), task_id: "task-1".into() };
    ToolContext { operation: Some(handle), ..context() }
}

#[tokio::test]
async fn a_call_carries_its_arguments_its_ids_and_the_secret() {
    let service = Service::start().await;
    let tool = service.tool("json", &json!({"secret": "hush-hush"}));
    let response = call(&tool, context()).await;
    assert_eq!(
        (&response["type"], &response["tool"], &response["output"]),
        (&json!("external_tool_output"), &json!("weather"), &json!({"sky": "blue"}))
    );
    call(
        &tool,
        ToolContext { owner: Owner::Anonymous, idempotency_key: "t/1/\n".into(), ..context() },
    )
    .await;
    let [(headers, asked), (odd, nobody)] = service.requests().try_into().expect("two calls");
    let expected = json!({
        "tool": "weather",
        "arguments": {"place": "Lisbon"},
        "session_id": "session",
        "turn_id": "turn",
        "tool_call_id": "call",
        "user_id": "tester",
        "dry_run": false,
    });
    assert_eq!(asked, expected);
    assert_eq!(nobody.get("user_id"), None);
    assert_eq!(headers["idempotency-key"], "turn/0/call");
    assert_eq!(odd["idempotency-key"], "t/1/\\n");
    assert_eq!(headers["authorization"], "Bearer hush-hush");
}

#[tokio::test]
async fn an_answer_may_be_text_or_nothing() {
    let service = Service::start().await;
    let text = call(&service.tool("text", &json!({})), context()).await;
    assert_eq!(text["output"], "123");
    let nothing = call(&service.tool("nothing", &json!({})), context()).await;
    assert_eq!(nothing["output"], json!({"status": "completed"}));
    let (headers, _) = &service.requests()[0];
    assert!(!headers.contains_key("authorization"));
}

#[tokio::test]
async fn a_long_running_call_may_be_accepted_and_gets_a_callback_url() {
    let service = Service::start().await;
    let tool = service.tool("accepts", &json!({"long_running": true}));
    assert_eq!(tool.spec().long_running, LongRunning::Always);
    let response = call(&tool, in_operation()).await;
    assert_eq!(
        (
            &response["type"],
            &response["operation_id"],
            &response["task_id"],
            &response["tool_name"]
        ),
        (&json!("operation_started"), &json!("op-1"), &json!("task-1"), &json!("weather"))
    );
    let (_, asked) = &service.requests()[0];
    assert_eq!(
        (&asked["operation_id"], &asked["task_id"], &asked["callback_url"]),
        (
            &json!("op-1"),
            &json!("task-1"),
            &json!("https://pilot.example/api/chat/operations/op-1/complete")
        )
    );
    let outside = call(&service.tool("accepts", &json!({})), context()).await;
    assert_eq!(outside["error"], "external_tool_failed");
    assert!(outside["message"].as_str().expect("text").contains("202"));
}

#[tokio::test]
async fn a_failure_reports_the_status_and_the_start_of_the_reason_without_the_secret() {
    let service = Service::start().await;
    let refused = service.tool("refuses", &json!({"secret": "hush-hush"}));
    let response = call(&refused, context()).await;
    let message = response["message"].as_str().expect("text");
    assert_eq!(response["error"], "external_tool_failed");
    assert!(message.contains("status 422: <secret> x"), "{message}");
    assert!(!message.contains("hush") && message.chars().count() < 600, "{message}");
    for (how, says) in [("moves", "status 302."), ("floods", "more than 1 MiB")] {
        let response = call(&service.tool(how, &json!({})), context()).await;
        assert_eq!(response["error"], "external_tool_failed");
        assert!(response["message"].as_str().expect("text").contains(says), "{response}");
    }
    assert_eq!(service.requests().len(), 3, "nothing was followed or repeated");
}

#[tokio::test]
async fn an_unreachable_service_is_an_error_without_its_url() {
    let port = {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        listener.local_addr().expect("an address").port()
    };
    let service = Service::start().await;
    let away = service.tool("json", &json!({"url": format!("http://127.0.0.1:{port}/?key=k")}));
    let response = call(&away, context()).await;
    assert_eq!(
        (&response["error"], &response["message"]),
        (&json!("external_tool_failed"), &json!("weather could not be reached."))
    );
}

#[tokio::test]
async fn a_call_that_is_cancelled_or_dropped_closes_its_connection() {
    let mut service = Service::start().await;
    let tool = service.tool("hangs", &json!({}));
    let cancel = CancellationToken::new();
    let context = ToolContext { cancel: cancel.clone(), ..context() };
    let stop = async {
        assert_eq!(service.hears().await, "began");
        cancel.cancel();
        service.hears().await
    };
    let (response, heard) = tokio::join!(call(&tool, context), stop);
    assert_eq!((&response["error"], heard), (&json!("cancelled"), "ended"));

    tokio::select! {
        _ = call(&tool, super::context()) => panic!("it cannot answer"),
        began = service.hears() => assert_eq!(began, "began"),
    }
    assert_eq!(service.hears().await, "ended");
}

#[tokio::test]
async fn a_dry_run_sends_nothing_and_shows_what_it_would_send() {
    let service = Service::start().await;
    let response = call(&service.tool("json", &json!({})), dry_run()).await;
    assert_eq!(response["output"], json!({"dry_run": true, "arguments": {"place": "Lisbon"}}));
    assert!(response["message"].as_str().expect("text").starts_with("Dry run"), "{response}");
    assert!(service.requests().is_empty());
}

#[tokio::test]
async fn the_configuration_determines_the_tool_spec() {
    let service = Service::start().await;
    let more = json!({"effect": "idempotent", "requires_auth": false, "budget_seconds": 5});
    let tool = service.tool("json", &more);
    let spec = tool.spec();
    assert_eq!((spec.name, spec.description), ("weather", "Tells the weather."));
    assert_eq!((spec.effect, spec.requires_auth), (ToolEffect::Idempotent, false));
    assert_eq!(spec.budget, TimeBudget::AtMost(Duration::from_secs(5)));
    let careful = service.tool("json", &json!({}));
    assert_eq!(
        (careful.spec().effect, careful.spec().budget),
        (ToolEffect::Once, TimeBudget::Default)
    );
    let operation = service.tool("json", &json!({"long_running": true}));
    assert_eq!(operation.spec().effect, ToolEffect::Idempotent);
}

#[tokio::test]
async fn a_built_in_tool_cannot_be_replaced() {
    for name in ["web_fetch", "run_sub_session", "bash_exec"] {
        let tool = json!({
            "name": name,
            "description": "Another one.",
            "parameters": {"type": "object"},
            "url": "http://127.0.0.1:1/",
        });
        let error = built(&json!({"tools": [tool]})).err().expect("refused");
        assert!(error.contains(name) && error.contains("rename"), "{error}");
    }
}
