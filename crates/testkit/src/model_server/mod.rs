//! A model provider that plays scripts over real HTTP, as chat completions and as messages. It
//! records what it is asked, refuses histories that a strict provider would refuse, and misbehaves
//! in every way a script asks for.
//!
//! ```ignore
//! let server = ModelServer::start().await;
//! server.enqueue(Script::tool("call_1", "web_fetch", &json!({"url": "https://example.com"})));
//! server.enqueue(Script::text("Done."));
//! // … point a provider at server.openai_url() or server.anthropic_url() …
//! server.assert_no_violations();
//! ```

mod anthropic;
mod gate;
mod line;
mod openai;
mod play;
mod record;
mod script;
mod stage;
mod validate;
mod wire;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

pub use gate::Gate;
pub use record::{Ending, RecordedRequest};
pub use script::{Cut, Script, ScriptedCall, ScriptedUsage};
use stage::Stage;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
pub use wire::Dialect;

/// The standard model of a provider under test.
pub const MODEL: &str = "scripted-model";
/// Requests for this model are answered with a title and take no script from the queue.
pub const TITLE_MODEL: &str = "scripted-title";
/// Any key is accepted; this one is easy to look for where no key may appear.
pub const API_KEY: &str = "sk-scripted-0123456789abcdef";

/// How long a test waits for something to be recorded before it fails.
const PATIENCE: Duration = Duration::from_secs(20);

/// Stops when it is dropped.
pub struct ModelServer {
    address: SocketAddr,
    stage: Arc<Stage>,
    open: watch::Receiver<usize>,
    _serving: JoinSet<()>,
}

impl ModelServer {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port on loopback");
        let address = listener.local_addr().expect("a bound listener has an address");
        let stage = Arc::new(Stage::default());
        let (count, open) = watch::channel(0);
        let listener = line::CountedListener { listener, open: count };
        let service =
            play::router(stage.clone()).into_make_service_with_connect_info::<line::LineEnd>();
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            axum::serve(listener, service).await.expect("serving never ends by itself");
        });
        Self { address, stage, open, _serving: serving }
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

    /// Played to the next request that is not for a title. Without a script the answer is a 500.
    pub fn enqueue(&self, script: Script) {
        self.stage.enqueue(script);
    }

    /// Answers whatever finds the queue empty.
    pub fn respond_with(
        &self,
        responder: impl Fn(&RecordedRequest) -> Script + Send + Sync + 'static,
    ) {
        self.stage.respond_with(Arc::new(responder));
    }

    pub fn scripts_left(&self) -> usize {
        self.stage.scripts_left()
    }

    /// Waits until a request has taken the last queued script, so that no later request can take it; panics when none
    /// does.
    pub async fn wait_until_scripts_are_taken(&self) {
        self.wait_until("every script to be taken", |_| self.scripts_left() == 0).await;
    }

    /// In the order of their arrival, without those for a title.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        let mut requests = self.stage.requests();
        requests.retain(|request| request.model() != TITLE_MODEL);
        requests
    }

    pub fn title_requests(&self) -> Vec<RecordedRequest> {
        let mut requests = self.stage.requests();
        requests.retain(|request| request.model() == TITLE_MODEL);
        requests
    }

    /// Waits until at least `count` requests have come; panics when they do not.
    pub async fn wait_for_requests(&self, count: usize) -> Vec<RecordedRequest> {
        self.wait_until("that many requests", |requests| requests.len() >= count).await
    }

    /// Waits until no request is being answered any more.
    pub async fn wait_until_idle(&self) -> Vec<RecordedRequest> {
        self.wait_until("the last answer to end", |requests| {
            requests.iter().all(|request| request.ending != Ending::Open)
        })
        .await
    }

    /// Waits until `holds` is true of the requests so far; panics when it never is.
    pub async fn wait_until(
        &self,
        what: &str,
        holds: impl Fn(&[RecordedRequest]) -> bool,
    ) -> Vec<RecordedRequest> {
        let mut changes = self.stage.changes();
        let waiting = async {
            loop {
                let requests = self.requests();
                if holds(&requests) {
                    return requests;
                }
                changes.changed().await.expect("the server holds the sender");
            }
        };
        match tokio::time::timeout(PATIENCE, waiting).await {
            Ok(requests) => requests,
            Err(_) => panic!("the model server waited in vain for {what}"),
        }
    }

    /// TCP connections, idle ones in a client's pool included.
    pub fn open_connections(&self) -> usize {
        *self.open.borrow()
    }

    /// Waits until exactly `count` connections are open; panics when that does not come.
    pub async fn wait_for_connections(&self, count: usize) {
        let mut open = self.open.clone();
        let waiting = open.wait_for(|open| *open == count);
        let waited = tokio::time::timeout(PATIENCE, waiting).await;
        assert!(matches!(waited, Ok(Ok(_))), "{} connections are open", self.open_connections());
    }

    /// What was wrong with the requests it answered with 400.
    pub fn violations(&self) -> Vec<String> {
        self.stage.violations()
    }

    pub fn assert_no_violations(&self) {
        let violations = self.violations();
        assert!(violations.is_empty(), "requests a strict provider refuses: {violations:?}");
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        // Answers that wait or hang end now instead of keeping their connections for ever.
        self.stage.close();
    }
}
