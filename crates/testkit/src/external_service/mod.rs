//! The service behind external tools, over real HTTP: one route for each tool. It answers, refuses, accepts or holds a
//! call as the test says, and keeps a record of the calls, of their keys, and of who hung up.
//!
//! ```ignore
//! let service = ExternalService::start(&[("render", json!({"effect": "idempotent"}))]).await;
//! // … start a server with ("CHAT_TOOLS_FILE", service.tools_file()) …
//! let gate = Gate::closed();
//! service.answer("render", Answer::json(json!({"file": "a.mp4"})).held_by(&gate));
//! ```

mod answer;
mod record;
mod serve;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

pub use answer::Answer;
use record::Book;
pub use record::{Ending, Received};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// How long a test waits for something to be recorded before it fails.
const PATIENCE: Duration = Duration::from_secs(30);
/// What the service expects as `Authorization: Bearer …`; anything else is answered with 401.
pub const SECRET: &str = "a-word-that-the-service-knows";

/// Stops when it is dropped.
pub struct ExternalService {
    address: SocketAddr,
    book: Arc<Book>,
    folder: TempDir,
    _serving: JoinSet<()>,
}

impl ExternalService {
    /// For tools of these names, with the fields of their description that are not the usual ones.
    pub async fn start(tools: &[(&str, Value)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port on loopback");
        let address = listener.local_addr().expect("a bound listener has an address");
        let book = Arc::new(Book::default());
        let service = serve::router(book.clone());
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            axum::serve(listener, service).await.expect("serving never ends by itself");
        });
        let folder = TempDir::new().expect("a temporary folder");
        let described: Vec<Value> =
            tools.iter().map(|(name, special)| describe(address, name, special)).collect();
        let file = json!({ "tools": described }).to_string();
        std::fs::write(folder.path().join(FILE), file).expect("a file in a temporary folder");
        Self { address, book, folder, _serving: serving }
    }

    /// The path for `CHAT_TOOLS_FILE`.
    pub fn tools_file(&self) -> String {
        self.folder.path().join(FILE).to_str().expect("a path of plain letters").to_owned()
    }

    /// Where the calls of a tool go.
    pub fn url(&self, tool: &str) -> String {
        url(self.address, tool)
    }

    /// How calls of a tool are answered from now on. Without this they succeed with `{"done": true}`.
    pub fn answer(&self, tool: &str, answer: Answer) {
        self.answer_with(tool, move |_| answer.clone());
    }

    /// The same, depending on the call.
    pub fn answer_with(
        &self,
        tool: &str,
        answer: impl Fn(&Received) -> Answer + Send + Sync + 'static,
    ) {
        self.book.answer_with(tool, Arc::new(answer));
    }

    /// All calls of a tool, in the order of their arrival.
    pub fn calls(&self, tool: &str) -> Vec<Received> {
        self.book.calls(tool)
    }

    /// Waits until at least `count` calls of a tool have come; panics when they do not.
    pub async fn wait_for_calls(&self, tool: &str, count: usize) -> Vec<Received> {
        let what = format!("{count} calls of {tool}");
        self.wait_until(tool, &what, |calls| calls.len() >= count).await
    }

    /// Waits until the caller has hung up on the call of that number, counted from 0.
    pub async fn wait_until_left(&self, tool: &str, number: usize) {
        let what = format!("the end of call {number} of {tool} by its caller");
        self.wait_until(tool, &what, |calls| {
            calls.get(number).is_some_and(|call| call.ending == Ending::CallerLeft)
        })
        .await;
    }

    /// Waits until `holds` is true of the calls of a tool; panics when it never is.
    pub async fn wait_until(
        &self,
        tool: &str,
        what: &str,
        holds: impl Fn(&[Received]) -> bool,
    ) -> Vec<Received> {
        let mut changes = self.book.changes();
        let waiting = async {
            loop {
                let calls = self.calls(tool);
                if holds(&calls) {
                    return calls;
                }
                changes.changed().await.expect("the book holds the sender");
            }
        };
        match tokio::time::timeout(PATIENCE, waiting).await {
            Ok(calls) => calls,
            Err(_) => panic!("the service waited in vain for {what}: {:?}", self.calls(tool)),
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
