//! A local web server that records its requests.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::any;
use pilothouse_toolbox::egress::EgressClient;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::egress::client;

/// A received request, with the number of earlier requests to the same path.
pub(crate) struct ReceivedRequest {
    pub(crate) path: String,
    pub(crate) method: String,
    pub(crate) headers: axum::http::HeaderMap,
    pub(crate) body: String,
    pub(crate) before: usize,
}

pub(crate) struct TestSite {
    pub(crate) url: String,
    /// A client that may access the server, under two host names.
    pub(crate) client: EgressClient,
    pub(crate) seen: Arc<Mutex<Vec<ReceivedRequest>>>,
    _serving: JoinSet<()>,
}

type Responder = fn(&ReceivedRequest) -> Response;

impl TestSite {
    pub(crate) async fn start(answer: Responder) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let seen: Arc<Mutex<Vec<ReceivedRequest>>> = Arc::default();
        let app = Router::new().fallback(any(serve)).with_state((seen.clone(), answer));
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let _ = axum::serve(listener, app).await;
        });
        let url = format!("http://site.example:{port}");
        Self { url, client: client(&[port]), seen, _serving: serving }
    }

    pub(crate) fn paths(&self) -> Vec<String> {
        let seen = self.seen.lock().expect("the lock is not poisoned");
        seen.iter().map(|seen| format!("{} {}", seen.method, seen.path)).collect()
    }
}

async fn serve(
    State((seen, answer)): State<(Arc<Mutex<Vec<ReceivedRequest>>>, Responder)>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 16 * 1024 * 1024).await.expect("a body");
    let path = head.uri.path().to_owned();
    let before = {
        let seen = seen.lock().expect("the lock is not poisoned");
        seen.iter().filter(|earlier| earlier.path == path).count()
    };
    let request = ReceivedRequest {
        path,
        method: head.method.to_string(),
        headers: head.headers,
        body: String::from_utf8_lossy(&body).into_owned(),
        before,
    };
    let response = answer(&request);
    seen.lock().expect("the lock is not poisoned").push(request);
    response
}

pub(crate) fn answer(
    status: u16,
    content_type: &str,
    body: impl Into<axum::body::Body>,
) -> Response {
    Response::builder()
        .status(status)
        .header("content-type", content_type)
        .body(body.into())
        .expect("a response")
}

pub(crate) fn redirect(status: u16, location: &str) -> Response {
    Response::builder()
        .status(status)
        .header("location", location)
        .body(axum::body::Body::empty())
        .expect("a response")
}
