//! Middleware of every request: a limit on the URI, one log line, and the response to a panic.

use axum::extract::{MatchedPath, Request};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use protocol::problem::ProblemCode;
use tokio::time::Instant;

use crate::http::problem::ApiProblem;

/// Longer than any URI of this API.
const URI_BYTES: usize = 8 * 1024;

pub(crate) async fn refuse_long_uris(request: Request, next: Next) -> Response {
    let length = request.uri().path_and_query().map_or(0, |path| path.as_str().len());
    if length > URI_BYTES {
        let detail = format!("The URL is longer than {URI_BYTES} bytes.");
        return ApiProblem::new(ProblemCode::UriTooLong, detail).into_response();
    }
    next.run(request).await
}

/// Logs one line per request, with the route instead of the path: a path may contain what a user typed.
pub(crate) async fn log_request(request: Request, next: Next) -> Response {
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let started = Instant::now();
    let response = next.run(request).await;
    let status = response.status().as_u16();
    let route = route.as_ref().map_or("-", MatchedPath::as_str);
    let duration_ms = started.elapsed().as_millis() as u64;
    if status >= 500 && status != 501 {
        tracing::warn!(%method, route, status, duration_ms, "request failed");
    } else {
        tracing::debug!(%method, route, status, duration_ms, "request completed");
    }
    response
}

pub(crate) fn respond_to_panic(_: Box<dyn std::any::Any + Send + 'static>) -> Response {
    tracing::error!("a request handler panicked");
    ApiProblem::new(ProblemCode::Internal, "Internal server error. It has been logged.")
        .into_response()
}
