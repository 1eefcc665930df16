//! Follow-ups: messages sent to a running turn, and their state.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::FollowUpRequest;
use jiff::Timestamp;
use ports::store::FollowUpPushed;
use protocol::follow_up::{FollowUp, FollowUpState};
use protocol::problem::ProblemCode;
use protocol::{MessageId, SessionId, TurnId, limits};
use serde::{Deserialize, Serialize};
use utoipa_axum::routes;

use crate::http::AppState;
use crate::http::extract::{CallerIdentity, JsonBody, PathId};
use crate::http::problem::{ApiProblem, ApiResult, ProblemBody};
use crate::http::responses::{InvalidField, NotFound};
use crate::http::routes::ApiRoutes;
use crate::http::routes::stream::submission::{
    checked_context, checked_files, checked_id, checked_text,
};

/// Follow-ups returned by the list.
const LIST_LIMIT: u32 = 50;

pub(crate) fn routes() -> ApiRoutes {
    ApiRoutes::new().routes(routes!(send, list))
}

#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FollowUpBody {
    /// 1 to 64 000 characters.
    message: String,
    /// What the user is looking at, for example `url` and `content` of a page.
    #[serde(default)]
    context: Option<BTreeMap<String, String>>,
    /// Ids of files in the session's workspace, at most 20.
    #[serde(default)]
    file_ids: Option<Vec<String>>,
    /// Client-chosen id: sending the message again with the same id changes nothing.
    #[serde(default)]
    message_id: Option<String>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct QueuedFollowUp {
    /// The number of waiting follow-ups, including this one.
    buffer_length: u32,
    max_buffer_length: u32,
    turn_in_flight: bool,
    follow_up: FollowUpView,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct FollowUpList {
    /// The texts of the waiting follow-ups.
    messages: Vec<String>,
    /// The number of waiting follow-ups.
    count: usize,
    /// The newest follow-ups of the session in the order they were sent, in any state.
    follow_ups: Vec<FollowUpView>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct FollowUpView {
    /// Also the id of its message in the history, once it is delivered.
    id: MessageId,
    /// The turn it was sent to.
    turn_id: TurnId,
    message: String,
    state: FollowUpState,
    /// The step of the turn before which it was delivered to the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u32>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

impl From<FollowUp> for FollowUpView {
    fn from(follow_up: FollowUp) -> Self {
        Self {
            id: follow_up.id,
            turn_id: follow_up.turn_id,
            message: follow_up.text,
            state: follow_up.state,
            step: follow_up.step,
            created_at: follow_up.created_at,
        }
    }
}

/// Send a follow-up to the running turn.
///
/// It is delivered to the model before the turn's next step. If the turn fails first, the follow-up is returned; if the
/// turn is canceled, it is dropped. The list shows its state.
#[utoipa::path(
    post, path = "/chat/sessions/{session_id}/messages/pending", operation_id = "send_follow_up", tag = "chat",
    params(("session_id" = String, Path)),
    request_body = FollowUpBody,
    responses(
        (status = 200, description = "The follow-up is queued for the next step", body = QueuedFollowUp),
        NotFound, (status = 409, description = "No turn is running, or the message id was used before", body = ProblemBody), InvalidField, (status = 429, description = "Too many follow-ups are waiting", body = ProblemBody),
    )
)]
async fn send(
    State(app): State<Arc<AppState>>,
    identity: CallerIdentity,
    PathId(session_id): PathId<SessionId>,
    JsonBody(new): JsonBody<FollowUpBody>,
) -> ApiResult<Json<QueuedFollowUp>> {
    if app.engine.is_shutting_down() {
        return Err(ApiProblem::shutting_down());
    }
    let request = FollowUpRequest {
        session_id: session_id.clone(),
        text: checked_text(new.message)?,
        client_id: new.message_id.map(checked_id).transpose()?,
        context: checked_context(new.context)?,
        file_ids: checked_files(new.file_ids)?,
    };
    let (follow_up, waiting) = match app.engine.follow_up(&identity.owner, request).await? {
        FollowUpPushed::Waits { follow_up, waiting } => (follow_up, waiting),
        FollowUpPushed::Known(follow_up) => {
            (follow_up, still_waiting(&app, &identity, &session_id).await?)
        }
        FollowUpPushed::Reused => return Err(ApiProblem::message_id_reused()),
        FollowUpPushed::NoTurn => {
            return Err(ApiProblem::new(
                ProblemCode::NoActiveTurn,
                "No turn is running in this session. Send this as a message.",
            ));
        }
        FollowUpPushed::Full => return Err(ApiProblem::too_many_follow_ups()),
        FollowUpPushed::NoSession => return Err(ApiProblem::no_session()),
    };
    Ok(Json(QueuedFollowUp {
        buffer_length: waiting,
        max_buffer_length: limits::FOLLOW_UPS,
        turn_in_flight: follow_up.state == FollowUpState::Pending,
        follow_up: (*follow_up).into(),
    }))
}

/// List the follow-ups of a session with their states.
#[utoipa::path(
    get, path = "/chat/sessions/{session_id}/messages/pending", operation_id = "list_follow_ups", tag = "chat",
    params(("session_id" = String, Path)),
    responses((status = 200, description = "The waiting follow-ups, and the newest ones in any state", body = FollowUpList), NotFound)
)]
async fn list(
    State(app): State<Arc<AppState>>,
    identity: CallerIdentity,
    PathId(session): PathId<SessionId>,
) -> ApiResult<Json<FollowUpList>> {
    let found = newest(&app, &identity, &session).await?;
    let waiting = found.iter().filter(|one| one.state == FollowUpState::Pending);
    let messages: Vec<String> = waiting.map(|one| one.text.clone()).collect();
    Ok(Json(FollowUpList {
        count: messages.len(),
        messages,
        follow_ups: found.into_iter().map(FollowUpView::from).collect(),
    }))
}

async fn newest(
    app: &AppState,
    identity: &CallerIdentity,
    session: &SessionId,
) -> ApiResult<Vec<FollowUp>> {
    let found = app.ports.follow_ups.list(&identity.owner, session, LIST_LIMIT).await?;
    found.ok_or_else(ApiProblem::no_session)
}

async fn still_waiting(
    app: &AppState,
    identity: &CallerIdentity,
    session: &SessionId,
) -> ApiResult<u32> {
    let found = newest(app, identity, session).await?;
    Ok(found.iter().map(|one| u32::from(one.state == FollowUpState::Pending)).sum())
}
