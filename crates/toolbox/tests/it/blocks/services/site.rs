//! A web server on this machine that keeps what it was sent.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::any;
use pilothouse_toolbox::egress::EgressClient;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::egress::client;

/// What came, and how often the same path had come before.
pub(super) struct Seen {
    pub(super) path: String,
    pub(super) method: String,
    pub(super) headers: axum::http::HeaderMap,
    pub(super) body: String,
    pub(super) before: usize,
}

pub(super) struct Site {
    pub(super) url: String,
    /// A client that may go there, under two names.
    pub(super) client: EgressClient,
    pub(super) seen: Arc<Mutex<Vec<Seen>>>,
    _serving: JoinSet<()>,
}

type Answering = fn(&Seen) -> Response;

impl Site {
    pub(super) async fn start(answer: Answering) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let app = Router::new().fallback(any(serve)).with_state((seen.clone(), answer));
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let _ = axum::serve(listener, app).await;
        });
        let url = format!("http://site.example:{port}");
        Self { url, client: client(&[port]), seen, _serving: serving }
    }

    pub(super) fn paths(&self) -> Vec<String> {
        let seen = self.seen.lock().expect("no test panics in there");
        seen.iter().map(|seen| format!("{} {}", seen.method, seen.path)).collect()
    }
}

async fn serve(
    State((seen, answer)): State<(Arc<Mutex<Vec<Seen>>>, Answering)>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 16 * 1024 * 1024).await.expect("a body");
    let path = head.uri.path().to_owned();
    let before = {
        let seen = seen.lock().expect("no test panics in there");
        seen.iter().filter(|earlier| earlier.path == path).count()
    };
    let request = Seen {
        path,
        method: head.method.to_string(),
        headers: head.headers,
        body: String::from_utf8_lossy(&body).into_owned(),
        before,
    };
    let response = answer(&request);
    seen.lock().expect("no test panics in there").push(request);
    response
}

pub(super) fn answer(
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

pub(super) fn redirect(status: u16, location: &str) -> Response {
    Response::builder()
        .status(status)
        .header("location", location)
        .body(axum::body::Body::empty())
        .expect("a response")
}
