//! Stopping what a session does.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::CancelReason;
use protocol::{SessionId, TaskId, TurnId};
use serde::Serialize;

use super::App;
use super::auth::Identity;
use super::path::Id;
use super::problem::{Answer, Problem, ProblemBody};

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct Cancelled {
    cancelled: bool,
    turn_id: Option<TurnId>,
    task_id: Option<TaskId>,
    /// Null when the turn has ended.
    reason: Option<Reason>,
}

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
enum Reason {
    NoActiveTask,
    /// It had not started.
    Dequeued,
    /// Asked for, but the turn had not ended after five seconds.
    CancelPublishedNotConfirmed,
}

/// Stop the session's turns, and wait up to five seconds for their end.
#[utoipa::path(
    post, path = "/chat/sessions/{session_id}/cancel", operation_id = "cancel_session", tag = "chat",
    params(("session_id" = String, Path)),
    responses((status = 200, description = "Done", body = Cancelled), (status = 404, description = "There is no such thing of yours", body = ProblemBody))
)]
pub(crate) async fn cancel(
    State(app): State<Arc<App>>,
    identity: Identity,
    Id(session): Id<SessionId>,
) -> Answer<Json<Cancelled>> {
    if app.ports.sessions.get(&identity.owner, &session).await?.is_none() {
        return Err(Problem::no_session());
    }
    let report = app.engine.cancel(&identity.owner, &session).await?;
    Ok(Json(Cancelled {
        cancelled: report.cancelled,
        task_id: report.turn_id.as_ref().map(TurnId::task),
        turn_id: report.turn_id,
        reason: report.reason.map(|reason| match reason {
            CancelReason::NoActiveTask => Reason::NoActiveTask,
            CancelReason::Dequeued => Reason::Dequeued,
            CancelReason::NotConfirmed => Reason::CancelPublishedNotConfirmed,
        }),
    }))
}
