//! An HTTP service for external tools, with one route per tool; `/api/…` is the same without a secret, as an agent
//! generator has it. It answers, refuses, accepts or holds calls as the test
//! configures, and records each call, its idempotency key, and whether the caller disconnected.
//!
//! ```ignore
//! let service = ExternalService::start(&[("render", json!({"effect": "idempotent"}))]).await;
//! // … start a server with ("CHAT_TOOLS_FILE", service.tools_file()) …
//! let gate = Gate::closed();
//! service.answer("render", ServiceResponse::json(json!({"file": "a.mp4"})).held_by(&gate));
//! ```

mod call_log;
mod response;
mod serve;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use call_log::CallLog;
pub use call_log::{ReceivedCall, ReceivedCallEnd};
pub use response::ServiceResponse;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// How long a test waits for a recorded event before it fails.
const WAIT_TIMEOUT: Duration = Duration::from_secs(30);
/// The token that the service expects as `Authorization: Bearer …`; otherwise it responds with 401.
pub const SECRET: &str = "a-word-that-the-service-knows";

/// Stops when it is dropped.
pub struct ExternalService {
    address: SocketAddr,
    calls: Arc<CallLog>,
    folder: TempDir,
    _serving: JoinSet<()>,
}

impl ExternalService {
    /// Starts the service for these tools. The values override fields of the default tool descriptions.
    pub async fn start(tools: &[(&str, Value)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port on loopback");
        let address = listener.local_addr().expect("a bound listener has an address");
        let calls = Arc::new(CallLog::default());
        let service = serve::router(calls.clone());
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            axum::serve(listener, service).await.expect("the server runs until it is dropped");
        });
        let folder = TempDir::new().expect("a temporary folder");
        let described: Vec<Value> =
            tools.iter().map(|(name, special)| describe(address, name, special)).collect();
        let file = json!({ "tools": described }).to_string();
        std::fs::write(folder.path().join(FILE), file).expect("a file in a temporary folder");
        Self { address, calls, folder, _serving: serving }
    }

    /// The path for `CHAT_TOOLS_FILE`.
    pub fn tools_file(&self) -> String {
        self.folder.path().join(FILE).to_str().expect("an ASCII path").to_owned()
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of a tool.
    pub fn url(&self, tool: &str) -> String {
        url(self.address, tool)
    }

    /// Sets the response to calls of a tool. The default is `{"done": true}`.
    pub fn answer(&self, tool: &str, answer: ServiceResponse) {
        self.answer_with(tool, move |_| answer.clone());
    }

    /// Sets a response that depends on the call.
    pub fn answer_with(
        &self,
        tool: &str,
        answer: impl Fn(&ReceivedCall) -> ServiceResponse + Send + Sync + 'static,
    ) {
        self.calls.answer_with(tool, Arc::new(answer));
    }

    /// All calls of a tool, in order of arrival.
    pub fn calls(&self, tool: &str) -> Vec<ReceivedCall> {
        self.calls.calls(tool)
    }

    /// Waits until a tool has received at least `count` calls; panics on timeout.
    pub async fn wait_for_calls(&self, tool: &str, count: usize) -> Vec<ReceivedCall> {
        let what = format!("{count} calls of {tool}");
        self.wait_until(tool, &what, |calls| calls.len() >= count).await
    }

    /// Waits until the caller has disconnected from the call with this index.
    pub async fn wait_until_left(&self, tool: &str, number: usize) {
        let what = format!("the caller to disconnect from call {number} of {tool}");
        self.wait_until(tool, &what, |calls| {
            calls.get(number).is_some_and(|call| call.ending == ReceivedCallEnd::CallerLeft)
        })
        .await;
    }

    /// Waits until `holds` is true for the calls of a tool; panics on timeout.
    pub async fn wait_until(
        &self,
        tool: &str,
        what: &str,
        holds: impl Fn(&[ReceivedCall]) -> bool,
    ) -> Vec<ReceivedCall> {
        let mut changes = self.calls.changes();
        let waiting = async {
            loop {
                let calls = self.calls(tool);
                if holds(&calls) {
                    return calls;
                }
                changes.changed().await.expect("the call log holds the sender");
            }
        };
        match tokio::time::timeout(WAIT_TIMEOUT, waiting).await {
            Ok(calls) => calls,
            Err(_) => panic!("timed out waiting for {what}: {:?}", self.calls(tool)),
        }
    }
}

const FILE: &str = "tools.json";

fn url(address: SocketAddr, tool: &str) -> String {
    format!("http://{address}/{tool}")
}

fn describe(address: SocketAddr, name: &str, special: &Value) -> Value {
    let usual = json!({
        "name": name,
        "description": format!("Asks the external service to {name}."),
        "parameters": {"type": "object", "properties": {"work": {"type": "string"}}},
        "url": url(address, name),
        "secret": SECRET,
    });
    let special = special.as_object().cloned().unwrap_or_default();
    let fields: Map<String, Value> =
        usual.as_object().cloned().unwrap_or_default().into_iter().chain(special).collect();
    Value::Object(fields)
}
