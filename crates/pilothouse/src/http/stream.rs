//! Starting a turn and following it, and coming back to one that runs or has just ended.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use engine::SubmissionOutcome;
use http::{HeaderMap, StatusCode};
use protocol::chunk::Chunk;
use protocol::problem::ProblemCode;
use protocol::{SessionId, TaskId, cursor};
use serde::Deserialize;
use serde_json::Value;

use super::App;
use super::accept::Peer;
use super::auth::Identity;
use super::json::{Body, Query};
use super::path::Id;
use super::problem::{Answer, Problem, ProblemBody};
use super::sse::{self, From, LogState};
use super::submission::StreamRequest;

#[derive(Deserialize, utoipa::IntoParams)]
pub(crate) struct Resume {
    /// The id of the last event you have; `0-0` for the beginning. `Last-Event-ID` does the same.
    last_message_id: Option<String>,
}

/// Start a turn and stream it.
///
/// The turn runs to its end whatever happens to this connection. The same message id again joins the turn
/// it made. A message to a busy session becomes a follow-up of the turn at work, and is answered with a stream without
/// words; one with permissions of its own waits for a turn of its own.
#[utoipa::path(
    post, path = "/chat/sessions/{session_id}/stream", operation_id = "start_turn", tag = "chat",
    params(("session_id" = String, Path)),
    request_body = StreamRequest,
    responses(
        (status = 200, description = "The turn's chunks as server-sent events", body = Chunk, content_type = "text/event-stream"),
        (status = 404, description = "There is no such thing of yours", body = ProblemBody), (status = 409, description = "In conflict with what is there", body = ProblemBody), (status = 422, description = "Not valid", body = ProblemBody),
    )
)]
pub(crate) async fn start(
    State(app): State<Arc<App>>,
    identity: Identity,
    Extension(peer): Extension<Peer>,
    Id(session): Id<SessionId>,
    Body(body): Body<Value>,
) -> Answer<Response> {
    let submission = StreamRequest::read(body)?.into_submission(session)?;
    if app.engine.is_shutting_down() {
        return Err(Problem::shutting_down());
    }
    // Before the turn exists: a refusal must not leave one behind.
    let permit = app.stream_permits.take(&identity.owner, peer)?;
    let turn = match app.engine.submit(&identity.owner, submission).await? {
        SubmissionOutcome::Accepted(turn) => turn,
        SubmissionOutcome::Joined(turn) => {
            let state = sse::log_state(&app, &turn.id.task()).await?;
            if turn.status.is_final() && !matches!(state, LogState::EndsAt(_)) {
                return Err(expired());
            }
            turn
        }
        // The turn at work answers it, in its own stream.
        SubmissionOutcome::FollowUp(follow_up) => return Ok(sse::nothing_here(&follow_up)),
        SubmissionOutcome::TooManyFollowUps => return Err(Problem::too_many_follow_ups()),
        SubmissionOutcome::NoSession => return Err(Problem::no_session()),
        SubmissionOutcome::MessageIdReused => {
            return Err(Problem::message_id_reused());
        }
        SubmissionOutcome::Busy => {
            return Err(Problem::new(
                ProblemCode::SessionBusy,
                "The session is at work. Wait for its answer or stop it, then try again.",
            ));
        }
        SubmissionOutcome::TooMany => {
            return Err(Problem::new(
                ProblemCode::TooManyTurns,
                "You have as many messages under way as you may have. Wait for one to end, then try again.",
            ));
        }
        SubmissionOutcome::NothingToRegenerate => {
            return Err(Problem::new(
                ProblemCode::NothingToRegenerate,
                "There is no such answer to regenerate.",
            ));
        }
    };
    Ok(sse::respond(app, identity, &turn, From::Start, permit))
}

/// Come back to the session's turn.
///
/// The whole turn from its start, in few events, and then live. 204 when nothing runs and nothing ended just
/// now. With the id of the last event you have, exactly what follows it.
#[utoipa::path(
    get, path = "/chat/sessions/{session_id}/stream", operation_id = "resume_session", tag = "chat",
    params(("session_id" = String, Path), Resume),
    responses(
        (status = 200, description = "The turn's chunks as server-sent events", body = Chunk, content_type = "text/event-stream"),
        (status = 204, description = "Nothing to resume"),
    )
)]
pub(crate) async fn resume(
    State(app): State<Arc<App>>,
    identity: Identity,
    Extension(peer): Extension<Peer>,
    Id(session): Id<SessionId>,
    Query(query): Query<Resume>,
    headers: HeaderMap,
) -> Answer<Response> {
    // A session that is not there has nothing to resume either; a client must not see an error for that.
    let Some((turn, ended)) = app.ports.turns.current(&identity.owner, &session).await? else {
        return Ok(StatusCode::NO_CONTENT.into_response());
    };
    let from = if turn.status.is_final() {
        let window = app.options.replay_window;
        let recent = ended.is_some_and(|ago| !window.is_zero() && ago < window);
        match (recent, sse::log_state(&app, &turn.id.task()).await?) {
            (true, LogState::EndsAt(last)) => beginning(&headers, &query, last),
            _ => return Ok(StatusCode::NO_CONTENT.into_response()),
        }
    } else {
        match sse::log_state(&app, &turn.id.task()).await? {
            LogState::EndsAt(last) => beginning(&headers, &query, last),
            LogState::Missing | LogState::Trimmed => From::Start,
        }
    };
    let permit = app.stream_permits.take(&identity.owner, peer)?;
    Ok(sse::respond(app, identity, &turn, from, permit))
}

/// The stream of one task, running or finished.
#[utoipa::path(
    get, path = "/chat/tasks/{task_id}/stream", operation_id = "follow_task", tag = "chat",
    params(("task_id" = String, Path), Resume),
    responses(
        (status = 200, description = "The task's chunks as server-sent events", body = Chunk, content_type = "text/event-stream"),
        (status = 404, description = "TASK_NOT_FOUND"), (status = 410, description = "TASK_EXPIRED"),
    )
)]
pub(crate) async fn follow_task(
    State(app): State<Arc<App>>,
    identity: Identity,
    Extension(peer): Extension<Peer>,
    Id(task): Id<TaskId>,
    Query(query): Query<Resume>,
    headers: HeaderMap,
) -> Answer<Response> {
    let turn = app.ports.turns.get(&identity.owner, &task.0.as_str().into()).await;
    let turn = turn?.ok_or_else(|| no_task().nested())?;
    let from = match sse::log_state(&app, &task).await? {
        LogState::EndsAt(last) => beginning(&headers, &query, last),
        LogState::Missing if !turn.status.is_final() => From::Start,
        LogState::Missing | LogState::Trimmed => return Err(expired().nested()),
    };
    let permit = app.stream_permits.take(&identity.owner, peer)?;
    Ok(sse::respond(app, identity, &turn, from, permit))
}

/// A cursor we know continues exactly there; every other one, and none, gets the whole replay.
fn beginning(headers: &HeaderMap, query: &Resume, last: u64) -> From {
    let sent = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let sent = sent.or(query.last_message_id.as_deref());
    match sent.and_then(cursor::parse) {
        Some(after) if (1..=last).contains(&after) => From::After(after),
        _ => From::Replay { until: last },
    }
}

pub(super) fn no_task() -> Problem {
    Problem::new(ProblemCode::TaskNotFound, "There is no such task.")
}

fn expired() -> Problem {
    Problem::new(ProblemCode::TaskExpired, "The stream of this task is no longer kept.")
}
