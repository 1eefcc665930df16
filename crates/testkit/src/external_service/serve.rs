//! Handles a call: records it, selects its response, waits for its gates, and detects when the caller disconnects.

use std::sync::Arc;
use std::time::Instant;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use http::header::AUTHORIZATION;
use http::{HeaderMap, StatusCode};

use super::SECRET;
use super::call_log::{CallLog, ReceivedCall, ReceivedCallEnd};
use super::response::ServiceResponseBody;

pub(crate) fn router(calls: Arc<CallLog>) -> Router {
    Router::new()
        .route("/{tool}", post(take_with_secret))
        .route("/api/{tool}", post(take))
        .with_state(calls)
}

async fn take_with_secret(
    calls: State<Arc<CallLog>>,
    tool: Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if headers.get(AUTHORIZATION).is_none_or(|value| *value != format!("Bearer {SECRET}")) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    take(calls, tool, headers, body).await
}

async fn take(
    State(calls): State<Arc<CallLog>>,
    Path(tool): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let body = serde_json::from_slice(&body).unwrap_or_default();
    let received =
        ReceivedCall { tool, body, headers, at: Instant::now(), ending: ReceivedCallEnd::Open };
    let answer = calls.answer_to(&received);
    let mut held =
        OpenCall { number: calls.record(received), calls, ending: ReceivedCallEnd::CallerLeft };
    for gate in &answer.gates {
        gate.pass().await;
    }
    held.ending = ReceivedCallEnd::Answered;
    match answer.body {
        ServiceResponseBody::Json(body) => (answer.status, Json(body)).into_response(),
        ServiceResponseBody::Text(words) => (answer.status, words).into_response(),
        ServiceResponseBody::Empty => answer.status.into_response(),
    }
}

/// A call in progress. Dropped before `ending` is set when the caller disconnects.
struct OpenCall {
    number: usize,
    calls: Arc<CallLog>,
    ending: ReceivedCallEnd,
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        self.calls.ended(self.number, self.ending);
    }
}
