//! A generator service that answers as a test says, and records its requests.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{Method, Response, StatusCode, Uri};
use pilothouse_toolbox::generators::{self, GeneratorOptions, ServiceOptions};
use pilothouse_toolbox::providers::{self, CONTEXT_TOKENS, ProviderOptions};
use ports::AgentGenerator;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::PATIENCE;

/// One answer of the service.
pub(crate) enum ServiceReply {
    Json(u16, Value),
    Text(u16, String),
    /// More of a body than anything may have.
    Flood,
    /// A body that ends before the length that was announced.
    CutOff,
    /// Nothing, until the client leaves.
    Never,
}

pub(crate) struct ScriptedService {
    pub(crate) url: String,
    script: Arc<Script>,
    /// Receives the start and the end of a call that never gets an answer.
    hanging: mpsc::UnboundedReceiver<&'static str>,
    _serving: JoinSet<()>,
}

struct Script {
    replies: Mutex<VecDeque<ServiceReply>>,
    requests: Mutex<Vec<(String, Value)>>,
    hanging: mpsc::UnboundedSender<&'static str>,
}

impl ScriptedService {
    pub(crate) async fn start(replies: Vec<ServiceReply>) -> Self {
        let (hears, hanging) = mpsc::unbounded_channel();
        let script = Arc::new(Script {
            replies: Mutex::new(replies.into()),
            requests: Mutex::default(),
            hanging: hears,
        });
        let app = Router::new().fallback(serve).with_state(script.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let mut serving = JoinSet::new();
        serving.spawn(async move { axum::serve(listener, app).await.expect("it serves") });
        Self { url, script, hanging, _serving: serving }
    }

    pub(crate) fn generator(&self) -> Arc<dyn AgentGenerator> {
        generator(&self.url, PATIENCE)
    }

    /// Method and path, and the body.
    pub(crate) fn requests(&self) -> Vec<(String, Value)> {
        self.script.requests.lock().expect("not poisoned").clone()
    }

    pub(crate) async fn hears(&mut self) -> &'static str {
        let heard = tokio::time::timeout(PATIENCE, self.hanging.recv()).await;
        heard.expect("in time").expect("the service lives")
    }
}

pub(crate) fn options(base_url: &str, timeout: Duration) -> ServiceOptions {
    ServiceOptions { base_url: base_url.to_owned(), timeout }
}

pub(crate) fn generator(base_url: &str, timeout: Duration) -> Arc<dyn AgentGenerator> {
    let offline = ProviderOptions::Offline { context_tokens: CONTEXT_TOKENS };
    let provider = providers::connect(&offline).expect("the offline pilot");
    let options = GeneratorOptions::Service(options(base_url, timeout));
    generators::connect(&options, provider, &[]).expect("a good address")
}

async fn serve(
    State(script): State<Arc<Script>>,
    method: Method,
    uri: Uri,
    body: Bytes,
) -> Response<Body> {
    let asked = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let request = (format!("{method} {uri}"), asked);
    script.requests.lock().expect("not poisoned").push(request);
    let reply = script.replies.lock().expect("not poisoned").pop_front();
    let (status, length, body) = match reply.expect("a reply for each request") {
        ServiceReply::Json(status, json) => (status, None, Body::from(json.to_string())),
        ServiceReply::Text(status, text) => (status, None, Body::from(text)),
        ServiceReply::Flood => (200, None, Body::from(vec![b' '; 3 * 1024 * 1024])),
        ServiceReply::CutOff => {
            let pieces = [Ok(Bytes::from("{\"success\"")), Err(std::io::Error::other("cut"))];
            (200, Some(5_000), Body::from_stream(futures::stream::iter(pieces)))
        }
        ServiceReply::Never => {
            let _ended = Ended(script.hanging.clone());
            let _ = script.hanging.send("began");
            std::future::pending().await
        }
    };
    let status = StatusCode::from_u16(status).expect("a status");
    let mut response = Response::builder().status(status).header("location", "/elsewhere");
    if let Some(length) = length {
        response = response.header("content-length", length);
    }
    response.body(body).expect("a response")
}

/// Dropped when the connection of its request closes.
struct Ended(mpsc::UnboundedSender<&'static str>);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.send("ended");
    }
}
