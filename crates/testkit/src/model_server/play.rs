//! Answers a request: records it, checks it, finds its script and plays it.

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

use super::line::LineEnd;
use super::record::{Ending, RecordedRequest};
use super::script::{Cut, Opening, Refusal, RefusalBody, Script};
use super::stage::Stage;
use super::validate;
use super::wire::{Action, Dialect};

/// Larger than any history a test can send.
const REQUEST_BYTES: usize = 64 * 1024 * 1024;

pub(super) fn router(stage: Arc<Stage>) -> Router {
    let openai = |State(stage), ConnectInfo(line), headers: HeaderMap, body: Bytes| {
        answer(stage, line, Dialect::OpenAi, headers, body)
    };
    let anthropic = |State(stage), ConnectInfo(line), headers: HeaderMap, body: Bytes| {
        answer(stage, line, Dialect::Anthropic, headers, body)
    };
    Router::new()
        .route("/v1/chat/completions", post(openai))
        .route("/v1/messages", post(anthropic))
        .layer(DefaultBodyLimit::max(REQUEST_BYTES))
        .with_state(stage)
}

async fn answer(
    stage: Arc<Stage>,
    line: LineEnd,
    dialect: Dialect,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Infallible> {
    let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let checked = validate::check(dialect, &headers, &body);
    let request =
        RecordedRequest { dialect, body, headers, at: Instant::now(), ending: Ending::Open };
    let script = match checked {
        Ok(()) => stage.script_for(&request),
        Err(violation) => {
            let script = Script::error(400, "invalid_request_error", &violation);
            stage.violated(violation);
            script
        }
    };
    let model = request.model().to_owned();
    let performance = Performance { number: stage.record(request), stage, played: false };
    Ok(match script.opening {
        Opening::Stream => {
            let actions = dialect.actions(&script, &model);
            let body = Body::from_stream(play(performance, actions, line));
            ([("content-type", "text/event-stream")], body).into_response()
        }
        Opening::Refusal(refusal) => {
            let response = refuse(dialect, refusal);
            performance.done();
            response
        }
        Opening::Hang => {
            performance.stage.closed().await;
            performance.done();
            StatusCode::SERVICE_UNAVAILABLE.into_response()
        }
    })
}

fn refuse(dialect: Dialect, refusal: Refusal) -> Response {
    let mut response = match refusal.body {
        RefusalBody::Error { kind, message } => {
            axum::Json(dialect.error_body(&kind, &message)).into_response()
        }
        RefusalBody::Raw(bytes) => bytes.into_response(),
    };
    *response.status_mut() = StatusCode::from_u16(refusal.status).expect("a status of a script");
    for (name, value) in refusal.headers {
        let name = http::HeaderName::try_from(name).expect("a header name of a script");
        response.headers_mut().insert(name, value.try_into().expect("a header of a script"));
    }
    response
}

/// One answer being given. Dropped before its end, it was the client who went away.
struct Performance {
    number: usize,
    stage: Arc<Stage>,
    played: bool,
}

impl Performance {
    fn done(mut self) {
        self.played = true;
    }
}

impl Drop for Performance {
    fn drop(&mut self) {
        let ending = if self.played { Ending::Played } else { Ending::ClientLeft };
        self.stage.ended(self.number, ending);
    }
}

fn play(
    performance: Performance,
    actions: VecDeque<Action>,
    line: LineEnd,
) -> impl futures::Stream<Item = io::Result<Bytes>> {
    stream::unfold(Some((performance, actions, line)), |state| async move {
        let (performance, mut actions, line) = state?;
        loop {
            match actions.pop_front() {
                None => {
                    performance.done();
                    return None;
                }
                Some(Action::Send(bytes)) => {
                    return Some((Ok(bytes), Some((performance, actions, line))));
                }
                Some(Action::Wait(gate)) => {
                    tokio::select! {
                        () = gate.pass() => {}
                        () = performance.stage.closed() => actions.clear(),
                    }
                }
                Some(Action::Delay(time)) => tokio::time::sleep(time).await,
                Some(Action::Hang) => {
                    performance.stage.closed().await;
                    actions.clear();
                }
                Some(Action::Cut(cut)) => {
                    // A body that waits is flushed: what was said before leaves the buffers, or the
                    // cut would swallow it.
                    tokio::task::yield_now().await;
                    performance.done();
                    match cut {
                        Cut::EndOfBody => return None,
                        Cut::Reset => line.with_reset(),
                        Cut::Close => {}
                    }
                    return Some((Err(io::Error::other("the script cuts here")), None));
                }
            }
        }
    })
}
