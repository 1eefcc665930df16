//! The limit server: an axum server that sends the same events as ours and does nothing else. It has no sessions, no queue,
//! no store and no fan-out, so its results are an upper bound for a server that stores what it sends.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use anyhow::Result;
use axum::Json;
use axum::Router;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use futures::stream::{self, Stream, StreamExt};
use protocol::Chunk;
use protocol::chunk::FinishReason;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::command::Command;

pub(crate) async fn serve(port: u16) -> Result<()> {
    let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await?;
    let listener = listener.tap_io(|stream| {
        // A socket option that cannot be set only costs latency.
        let _ = stream.set_nodelay(true);
    });
    Ok(axum::serve(listener, router()).await?)
}

fn router() -> Router {
    Router::new()
        .route("/api/chat/sessions", post(create))
        .route("/api/chat/sessions/{id}/stream", post(turn).get(silence))
        .route("/api/chat/tasks/{chunks}/stream", get(replay))
}

async fn create() -> Json<Value> {
    Json(json!({ "id": "any" }))
}

#[derive(Deserialize)]
struct Body {
    message: String,
}

async fn turn(Json(body): Json<Body>) -> Response {
    match Command::parse(&body.message) {
        Some(command) => Sse::new(events(command)).into_response(),
        None => StatusCode::UNPROCESSABLE_ENTITY.into_response(),
    }
}

/// A follower of a started turn without output.
async fn silence() -> Response {
    let begun = numbered(stream::iter(opening())).chain(stream::pending());
    Sse::new(begun).keep_alive(KeepAlive::new().interval(Duration::from_secs(10))).into_response()
}

/// Nothing is stored, so a replay is generated again: the id encodes the length of the turn.
async fn replay(Path(chunks): Path<usize>) -> Response {
    Sse::new(events(Command::flat_out(chunks))).into_response()
}

fn events(command: Command) -> impl Stream<Item = Result<Event, Infallible>> + Send {
    let delta = "x".repeat(command.size);
    let deltas = stream::iter(0..command.count).then(move |_| {
        let chunk = Chunk::TextDelta { id: "t1".into(), delta: delta.clone() };
        async move {
            if !command.delay.is_zero() {
                tokio::time::sleep(command.delay).await;
            }
            chunk
        }
    });
    let done = stream::once(async { Ok(Event::default().data("[DONE]")) });
    numbered(stream::iter(opening()).chain(deltas).chain(stream::iter(closing()))).chain(done)
}

fn numbered(
    chunks: impl Stream<Item = Chunk> + Send,
) -> impl Stream<Item = Result<Event, Infallible>> + Send {
    chunks.enumerate().map(|(index, chunk)| {
        let json = serde_json::to_string(&chunk).expect("a chunk has only string keys");
        Ok(Event::default().id((index + 1).to_string()).data(json))
    })
}

fn opening() -> [Chunk; 3] {
    let start = Chunk::Start { message_id: "m1".into(), message_metadata: None };
    [start, Chunk::StartStep, Chunk::TextStart { id: "t1".into() }]
}

fn closing() -> [Chunk; 3] {
    let finish = Chunk::Finish { finish_reason: Some(FinishReason::Stop), message_metadata: None };
    [Chunk::TextEnd { id: "t1".into() }, Chunk::FinishStep, finish]
}
