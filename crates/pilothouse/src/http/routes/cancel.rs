//! Cancels the turns of a session.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::CancelReason;
use protocol::{SessionId, TaskId, TurnId};
use serde::Serialize;
use utoipa_axum::routes;

use crate::http::AppState;
use crate::http::extract::{CallerIdentity, PathId};
use crate::http::problem::{ApiProblem, ApiResult};
use crate::http::responses::NotFound;
use crate::http::routes::ApiRoutes;

pub(crate) fn routes() -> ApiRoutes {
    ApiRoutes::new().routes(routes!(cancel))
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct CancelResult {
    cancelled: bool,
    turn_id: Option<TurnId>,
    task_id: Option<TaskId>,
    /// Null when the turn has ended.
    reason: Option<CancelReasonCode>,
}

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
enum CancelReasonCode {
    NoActiveTask,
    /// The turn had not started.
    Dequeued,
    /// Requested, but the turn had not ended after five seconds.
    CancelPublishedNotConfirmed,
}

/// Cancel the session's turns, and wait up to five seconds for them to end.
#[utoipa::path(
    post, path = "/chat/sessions/{session_id}/cancel", operation_id = "cancel_session", tag = "chat",
    params(("session_id" = String, Path)),
    responses((status = 200, description = "Whether a turn was canceled, and why not otherwise", body = CancelResult), NotFound)
)]
async fn cancel(
    State(app): State<Arc<AppState>>,
    identity: CallerIdentity,
    PathId(session): PathId<SessionId>,
) -> ApiResult<Json<CancelResult>> {
    if app.ports.sessions.get(&identity.owner, &session).await?.is_none() {
        return Err(ApiProblem::no_session());
    }
    let report = app.engine.cancel(&identity.owner, &session).await?;
    Ok(Json(CancelResult {
        cancelled: report.cancelled,
        task_id: report.turn_id.as_ref().map(TurnId::task),
        turn_id: report.turn_id,
        reason: report.reason.map(|reason| match reason {
            CancelReason::NoActiveTask => CancelReasonCode::NoActiveTask,
            CancelReason::Dequeued => CancelReasonCode::Dequeued,
            CancelReason::NotConfirmed => CancelReasonCode::CancelPublishedNotConfirmed,
        }),
    }))
}
