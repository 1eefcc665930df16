//! Handles a request: validates and records it, selects its script and plays it.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, DefaultBodyLimit, State};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures::stream;
use http::{HeaderMap, StatusCode};
use serde_json::Value;

use super::connection::ConnectionClose;
use super::record::{RecordedRequest, ResponseEnd};
use super::script::{ConnectionCut, ResponseStart, Script, ScriptedError, ScriptedErrorBody};
use super::state::ModelServerState;
use super::validate;
use super::wire::{Dialect, ResponseAction};

/// Maximum request size: larger than any history that a test sends.
const REQUEST_BYTES: usize = 64 * 1024 * 1024;

pub(crate) fn router(state: Arc<ModelServerState>) -> Router {
    let openai = |State(state), ConnectInfo(connection), headers: HeaderMap, body: Bytes| {
        answer(state, connection, Dialect::OpenAi, headers, body)
    };
    let anthropic = |State(state), ConnectInfo(connection), headers: HeaderMap, body: Bytes| {
        answer(state, connection, Dialect::Anthropic, headers, body)
    };
    Router::new()
        .route("/v1/chat/completions", post(openai))
        .route("/v1/messages", post(anthropic))
        .layer(DefaultBodyLimit::max(REQUEST_BYTES))
        .with_state(state)
}

async fn answer(
    state: Arc<ModelServerState>,
    connection: ConnectionClose,
    dialect: Dialect,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Infallible> {
    let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let checked = validate::check(dialect, &headers, &body);
    let request =
        RecordedRequest { dialect, body, headers, at: Instant::now(), ending: ResponseEnd::Open };
    let script = match checked {
        Ok(()) => state.script_for(&request),
        Err(violation) => {
            let script = Script::error(400, "invalid_request_error", &violation);
            state.violated(violation);
            script
        }
    };
    let model = request.model().to_owned();
    let active = ActiveResponse { number: state.record(request), state, played: false };
    Ok(match script.opening {
        ResponseStart::Stream => {
            let actions = dialect.actions(&script, &model);
            let body = Body::from_stream(play(active, actions, connection));
            ([("content-type", "text/event-stream")], body).into_response()
        }
        ResponseStart::Error(error) => {
            let response = error_response(dialect, error);
            active.done();
            response
        }
        ResponseStart::Hang => {
            active.state.closed().await;
            active.done();
            StatusCode::SERVICE_UNAVAILABLE.into_response()
        }
    })
}

fn error_response(dialect: Dialect, error: ScriptedError) -> Response {
    let mut response = match error.body {
        ScriptedErrorBody::Error { kind, message } => {
            axum::Json(dialect.error_body(&kind, &message)).into_response()
        }
        ScriptedErrorBody::Raw(bytes) => bytes.into_response(),
    };
    *response.status_mut() =
        StatusCode::from_u16(error.status).expect("the script has a valid status");
    for (name, value) in error.headers {
        let name = http::HeaderName::try_from(name).expect("the script has valid header names");
        response
            .headers_mut()
            .insert(name, value.try_into().expect("the script has valid header values"));
    }
    response
}

/// A response in progress. Dropped before `done` when the client disconnects.
struct ActiveResponse {
    number: usize,
    state: Arc<ModelServerState>,
    played: bool,
}

impl ActiveResponse {
    fn done(mut self) {
        self.played = true;
    }
}

impl Drop for ActiveResponse {
    fn drop(&mut self) {
        let ending = if self.played { ResponseEnd::Played } else { ResponseEnd::ClientLeft };
        self.state.ended(self.number, ending);
    }
}

fn play(
    response: ActiveResponse,
    actions: VecDeque<ResponseAction>,
    connection: ConnectionClose,
) -> impl futures::Stream<Item = io::Result<Bytes>> {
    stream::unfold(Some((response, actions, connection)), |state| async move {
        let (response, mut actions, connection) = state?;
        loop {
            match actions.pop_front() {
                None => {
                    response.done();
                    return None;
                }
                Some(ResponseAction::Send(bytes)) => {
                    return Some((Ok(bytes), Some((response, actions, connection))));
                }
                Some(ResponseAction::Wait(gate)) => {
                    tokio::select! {
                        () = gate.pass() => {}
                        () = response.state.closed() => actions.clear(),
                    }
                }
                Some(ResponseAction::Delay(time)) => tokio::time::sleep(time).await,
                Some(ResponseAction::Hang) => {
                    response.state.closed().await;
                    actions.clear();
                }
                Some(ResponseAction::Cut(cut)) => {
                    // Yielding flushes the body, so that the cut does not discard events sent before it.
                    tokio::task::yield_now().await;
                    response.done();
                    match cut {
                        ConnectionCut::EndOfBody => return None,
                        ConnectionCut::Reset => connection.with_reset(),
                        ConnectionCut::Close => {}
                    }
                    return Some((
                        Err(io::Error::other("the script cuts the connection here")),
                        None,
                    ));
                }
            }
        }
    })
}
