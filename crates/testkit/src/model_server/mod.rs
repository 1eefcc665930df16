//! A scripted model provider over HTTP, with the chat completions API and the messages API. It records its requests,
//! refuses histories that a strict provider would refuse, and fails in every way that a script asks for.
//!
//! ```ignore
//! let server = ModelServer::start().await;
//! server.enqueue(Script::tool("call_1", "web_fetch", &json!({"url": "https://example.com"})));
//! server.enqueue(Script::text("Done."));
//! // … point a provider at server.openai_url() or server.anthropic_url() …
//! server.assert_no_violations();
//! ```

mod anthropic;
mod connection;
mod gate;
mod openai;
mod record;
mod respond;
mod script;
mod state;
mod validate;
mod wire;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

pub use gate::Gate;
pub use record::{RecordedRequest, ResponseEnd};
pub use script::{ConnectionCut, Script, ScriptedCall, ScriptedUsage};
use state::ModelServerState;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
pub use wire::Dialect;

/// The default model of a provider under test.
pub const MODEL: &str = "scripted-model";
/// Requests for this model get a title and take no script from the queue.
pub const TITLE_MODEL: &str = "scripted-title";
/// Any key is accepted; this one is easy to find in output that must not contain a key.
pub const API_KEY: &str = "sk-scripted-0123456789abcdef";

/// How long a test waits for a recorded event before it fails.
const WAIT_TIMEOUT: Duration = Duration::from_secs(20);

/// Stops when it is dropped.
pub struct ModelServer {
    address: SocketAddr,
    state: Arc<ModelServerState>,
    open: watch::Receiver<usize>,
    _serving: JoinSet<()>,
}

impl ModelServer {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port on loopback");
        let address = listener.local_addr().expect("a bound listener has an address");
        let state = Arc::new(ModelServerState::default());
        let (count, open) = watch::channel(0);
        let listener = connection::CountedListener { listener, open: count };
        let service = respond::router(state.clone())
            .into_make_service_with_connect_info::<connection::ConnectionClose>();
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            axum::serve(listener, service).await.expect("the server runs until it is dropped");
        });
        Self { address, state, open, _serving: serving }
    }

    /// The base address of an OpenAI-compatible provider, `/v1` included.
    pub fn openai_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The base address of an Anthropic provider.
    pub fn anthropic_url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn url(&self, dialect: Dialect) -> String {
        match dialect {
            Dialect::OpenAi => self.openai_url(),
            Dialect::Anthropic => self.anthropic_url(),
        }
    }

    /// Queues a script for the next request that is not for a title. Without a script the response is status 500.
    pub fn enqueue(&self, script: Script) {
        self.state.enqueue(script);
    }

    /// Sets the response for requests that find the queue empty.
    pub fn respond_with(
        &self,
        responder: impl Fn(&RecordedRequest) -> Script + Send + Sync + 'static,
    ) {
        self.state.respond_with(Arc::new(responder));
    }

    pub fn scripts_left(&self) -> usize {
        self.state.scripts_left()
    }

    /// Waits until requests have taken all queued scripts, so that no later request can take one; panics on timeout.
    pub async fn wait_until_scripts_are_taken(&self) {
        self.wait_until("every script to be taken", |_| self.scripts_left() == 0).await;
    }

    /// Requests in order of arrival, without those for a title.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        let mut requests = self.state.requests();
        requests.retain(|request| request.model() != TITLE_MODEL);
        requests
    }

    pub fn title_requests(&self) -> Vec<RecordedRequest> {
        let mut requests = self.state.requests();
        requests.retain(|request| request.model() == TITLE_MODEL);
        requests
    }

    /// Waits until at least `count` requests have arrived; panics on timeout.
    pub async fn wait_for_requests(&self, count: usize) -> Vec<RecordedRequest> {
        self.wait_until("that many requests", |requests| requests.len() >= count).await
    }

    /// Waits until no response is in progress.
    pub async fn wait_until_idle(&self) -> Vec<RecordedRequest> {
        self.wait_until("the last answer to end", |requests| {
            requests.iter().all(|request| request.ending != ResponseEnd::Open)
        })
        .await
    }

    /// Waits until `holds` is true for the requests so far; panics on timeout.
    pub async fn wait_until(
        &self,
        what: &str,
        holds: impl Fn(&[RecordedRequest]) -> bool,
    ) -> Vec<RecordedRequest> {
        let mut changes = self.state.changes();
        let waiting = async {
            loop {
                let requests = self.requests();
                if holds(&requests) {
                    return requests;
                }
                changes.changed().await.expect("the server holds the sender");
            }
        };
        match tokio::time::timeout(WAIT_TIMEOUT, waiting).await {
            Ok(requests) => requests,
            Err(_) => panic!("the model server timed out waiting for {what}"),
        }
    }

    /// Open TCP connections, including idle ones in a client's pool.
    pub fn open_connections(&self) -> usize {
        *self.open.borrow()
    }

    /// Waits until exactly `count` connections are open; panics on timeout.
    pub async fn wait_for_connections(&self, count: usize) {
        let mut open = self.open.clone();
        let waiting = open.wait_for(|open| *open == count);
        let waited = tokio::time::timeout(WAIT_TIMEOUT, waiting).await;
        assert!(matches!(waited, Ok(Ok(_))), "{} connections are open", self.open_connections());
    }

    /// Why requests were answered with status 400.
    pub fn violations(&self) -> Vec<String> {
        self.state.violations()
    }

    pub fn assert_no_violations(&self) {
        let violations = self.violations();
        assert!(violations.is_empty(), "requests a strict provider refuses: {violations:?}");
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        // Ends the responses that wait or hang, so that they do not keep their connections open.
        self.state.close();
    }
}
