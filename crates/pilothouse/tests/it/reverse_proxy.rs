//! A reverse proxy as an operator configures it: it forwards one path prefix to the server and keeps the `Host` header.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{CONNECTION, TRANSFER_ENCODING};
use reqwest::Client;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// Whether the forwarded path keeps the prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prefix {
    Kept,
    Stripped,
}

/// Stops when it is dropped.
pub(crate) struct ReverseProxy {
    address: SocketAddr,
    _serving: JoinSet<()>,
}

struct Route {
    path: &'static str,
    prefix: Prefix,
    /// `http://127.0.0.1:PORT`
    server: String,
    client: Client,
}

impl ReverseProxy {
    pub(crate) async fn start(path: &'static str, prefix: Prefix, server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port on loopback");
        let address = listener.local_addr().expect("a bound listener has an address");
        let client = Client::builder().no_proxy().no_gzip().no_brotli().build().expect("a client");
        let route = Arc::new(Route { path, prefix, server: server.to_owned(), client });
        let router = Router::new().fallback(forward).with_state(route);
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            axum::serve(listener, router).await.expect("serving never ends");
        });
        Self { address, _serving: serving }
    }

    /// `http://127.0.0.1:PORT`
    pub(crate) fn base(&self) -> String {
        format!("http://{}", self.address)
    }
}

async fn forward(State(route): State<Arc<Route>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let asked = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let Some(rest) = asked.strip_prefix(route.path) else {
        return (StatusCode::NOT_FOUND, "not a part of that server").into_response();
    };
    let path = match route.prefix {
        Prefix::Kept => asked,
        Prefix::Stripped => rest,
    };
    let body = to_bytes(body, usize::MAX).await.expect("a whole request");
    let request = route.client.request(parts.method, format!("{}{path}", route.server));
    let answer = request.headers(parts.headers).body(body).send().await.expect("an answer");
    let mut response = Response::new(Body::empty());
    *response.status_mut() = answer.status();
    *response.headers_mut() = answer.headers().clone();
    // These headers concern the connection to the server, not the one to the client.
    response.headers_mut().remove(CONNECTION);
    response.headers_mut().remove(TRANSFER_ENCODING);
    *response.body_mut() = Body::from_stream(answer.bytes_stream());
    response
}
