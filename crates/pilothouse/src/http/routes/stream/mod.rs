//! Starts a turn and streams it, and resumes the stream of a turn that runs or has just ended.

pub(crate) mod submission;

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use engine::SubmissionOutcome;
use http::{HeaderMap, StatusCode};
use protocol::chunk::Chunk;
use protocol::problem::ProblemCode;
use protocol::{SessionId, TaskId};
use serde::Deserialize;
use serde_json::Value;
use utoipa_axum::routes;

use self::submission::StreamRequest;
use crate::http::AppState;
use crate::http::extract::{CallerIdentity, JsonBody, PathId, Query};
use crate::http::problem::{ApiProblem, ApiResult, ProblemBody};
use crate::http::responses::{InvalidField, NotFound};
use crate::http::routes::ApiRoutes;
use crate::http::server::PeerAddress;
use crate::http::stream::event_stream::{StreamConnection, last_received};
use crate::http::stream::turn_stream::{self, LogState, StreamStart};

pub(crate) fn routes() -> ApiRoutes {
    ApiRoutes::new().routes(routes!(follow_task)).routes(routes!(start, resume))
}

#[derive(Deserialize, utoipa::IntoParams)]
pub(crate) struct ResumeQuery {
    /// The id of the last received event; `0-0` for the beginning. `Last-Event-ID` does the same.
    last_message_id: Option<String>,
}

/// Start a turn and stream it.
///
/// The turn runs to its end even if this connection breaks. Sending the same message id again joins the turn it
/// started. A message to a busy session becomes a follow-up of the running turn, and is answered with a stream without
/// text; a message with its own permissions waits for a turn of its own.
#[utoipa::path(
    post, path = "/chat/sessions/{session_id}/stream", operation_id = "start_turn", tag = "chat",
    params(("session_id" = String, Path)),
    request_body = StreamRequest,
    responses(
        (status = 200, description = "The turn's chunks as server-sent events", body = Chunk, content_type = "text/event-stream"),
        NotFound, (status = 409, description = "The message id was used before, or the session changed", body = ProblemBody), InvalidField,
    )
)]
async fn start(
    State(app): State<Arc<AppState>>,
    identity: CallerIdentity,
    Extension(peer): Extension<PeerAddress>,
    PathId(session): PathId<SessionId>,
    JsonBody(body): JsonBody<Value>,
) -> ApiResult<Response> {
    let submission = StreamRequest::read(body)?.into_submission(session)?;
    if app.engine.is_shutting_down() {
        return Err(ApiProblem::shutting_down());
    }
    // Before the turn is created: a refused request must not leave a turn behind.
    let connection = StreamConnection::open(app, identity, peer)?;
    let StreamConnection { app, identity, .. } = &connection;
    let turn = match app.engine.submit(&identity.owner, submission).await? {
        SubmissionOutcome::Accepted(turn) => turn,
        SubmissionOutcome::Joined(turn) => {
            let state = turn_stream::log_state(app, &turn.id.task()).await?;
            if turn.status.is_final() && !matches!(state, LogState::EndsAt(_)) {
                return Err(expired());
            }
            turn
        }
        // The running turn answers it in its own stream.
        SubmissionOutcome::FollowUp(follow_up) => {
            return Ok(turn_stream::follow_up_only(&follow_up));
        }
        SubmissionOutcome::TooManyFollowUps => return Err(ApiProblem::too_many_follow_ups()),
        SubmissionOutcome::NoSession => return Err(ApiProblem::no_session()),
        SubmissionOutcome::MessageIdReused => {
            return Err(ApiProblem::message_id_reused());
        }
        SubmissionOutcome::Busy => {
            return Err(ApiProblem::new(
                ProblemCode::SessionBusy,
                "This session is busy. Wait for the response or stop it, then try again.",
            ));
        }
        SubmissionOutcome::TooMany => {
            return Err(ApiProblem::new(
                ProblemCode::TooManyTurns,
                "You have too many responses running. Wait for one to finish, then try again.",
            ));
        }
        SubmissionOutcome::NothingToRegenerate => {
            return Err(ApiProblem::new(
                ProblemCode::NothingToRegenerate,
                "There is no such response to regenerate.",
            ));
        }
    };
    Ok(turn_stream::respond(connection, &turn, StreamStart::Start))
}

/// Resume the stream of the session's turn.
///
/// The whole turn from its start, merged into few events, then live. 204 when no turn runs and none ended recently.
/// With the id of the last received event: exactly what follows it.
#[utoipa::path(
    get, path = "/chat/sessions/{session_id}/stream", operation_id = "resume_session", tag = "chat",
    params(("session_id" = String, Path), ResumeQuery),
    responses(
        (status = 200, description = "The turn's chunks as server-sent events", body = Chunk, content_type = "text/event-stream"),
        (status = 204, description = "There is nothing to resume"),
    )
)]
async fn resume(
    State(app): State<Arc<AppState>>,
    identity: CallerIdentity,
    Extension(peer): Extension<PeerAddress>,
    PathId(session): PathId<SessionId>,
    Query(query): Query<ResumeQuery>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    // A missing session has nothing to resume; clients must not see an error for that.
    let Some((turn, ended)) = app.ports.turns.current(&identity.owner, &session).await? else {
        return Ok(StatusCode::NO_CONTENT.into_response());
    };
    let from = if turn.status.is_final() {
        let window = app.options.replay_window;
        let recent = ended.is_some_and(|ago| !window.is_zero() && ago < window);
        match (recent, turn_stream::log_state(&app, &turn.id.task()).await?) {
            (true, LogState::EndsAt(last)) => beginning(&headers, &query, last),
            _ => return Ok(StatusCode::NO_CONTENT.into_response()),
        }
    } else {
        match turn_stream::log_state(&app, &turn.id.task()).await? {
            LogState::EndsAt(last) => beginning(&headers, &query, last),
            LogState::Missing | LogState::Trimmed => StreamStart::Start,
        }
    };
    let connection = StreamConnection::open(app, identity, peer)?;
    Ok(turn_stream::respond(connection, &turn, from))
}

/// Stream one task, running or finished.
#[utoipa::path(
    get, path = "/chat/tasks/{task_id}/stream", operation_id = "follow_task", tag = "chat",
    params(("task_id" = String, Path), ResumeQuery),
    responses(
        (status = 200, description = "The task's chunks as server-sent events", body = Chunk, content_type = "text/event-stream"),
        (status = 404, description = "TASK_NOT_FOUND"), (status = 410, description = "TASK_EXPIRED"),
    )
)]
async fn follow_task(
    State(app): State<Arc<AppState>>,
    identity: CallerIdentity,
    Extension(peer): Extension<PeerAddress>,
    PathId(task): PathId<TaskId>,
    Query(query): Query<ResumeQuery>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let turn = app.ports.turns.get(&identity.owner, &task.0.as_str().into()).await;
    let turn = turn?.ok_or_else(|| no_task().nested())?;
    let from = match turn_stream::log_state(&app, &task).await? {
        LogState::EndsAt(last) => beginning(&headers, &query, last),
        LogState::Missing if !turn.status.is_final() => StreamStart::Start,
        LogState::Missing | LogState::Trimmed => return Err(expired().nested()),
    };
    let connection = StreamConnection::open(app, identity, peer)?;
    Ok(turn_stream::respond(connection, &turn, from))
}

/// A known cursor continues exactly there; any other one, and none, gets the whole replay.
fn beginning(headers: &HeaderMap, query: &ResumeQuery, last: u64) -> StreamStart {
    match last_received(headers, query.last_message_id.as_deref()) {
        Some(after) if (1..=last).contains(&after) => StreamStart::After(after),
        _ => StreamStart::Replay { until: last },
    }
}

pub(crate) fn no_task() -> ApiProblem {
    ApiProblem::new(ProblemCode::TaskNotFound, "Task not found.")
}

fn expired() -> ApiProblem {
    ApiProblem::new(ProblemCode::TaskExpired, "The stream of this task has expired.")
}
