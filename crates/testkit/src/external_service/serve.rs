//! Takes a call: writes it down, finds its answer, waits for its gates, and notices when the caller hangs up.

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
use super::answer::Body;
use super::record::{Book, Ending, Received};

pub(super) fn router(book: Arc<Book>) -> Router {
    Router::new().route("/{tool}", post(take)).with_state(book)
}

async fn take(
    State(book): State<Arc<Book>>,
    Path(tool): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if headers.get(AUTHORIZATION).is_none_or(|value| *value != format!("Bearer {SECRET}")) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let body = serde_json::from_slice(&body).unwrap_or_default();
    let received = Received { tool, body, headers, at: Instant::now(), ending: Ending::Open };
    let answer = book.answer_to(&received);
    let mut held = Held { number: book.record(received), book, ending: Ending::CallerLeft };
    for gate in &answer.gates {
        gate.pass().await;
    }
    held.ending = Ending::Answered;
    match answer.body {
        Body::Json(body) => (answer.status, Json(body)).into_response(),
        Body::Text(words) => (answer.status, words).into_response(),
        Body::Empty => answer.status.into_response(),
    }
}

/// A call that is being answered. Dropped before its end, it was the caller who went away.
struct Held {
    number: usize,
    book: Arc<Book>,
    ending: Ending,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.book.ended(self.number, self.ending);
    }
}
