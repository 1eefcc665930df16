//! Messages for a turn that is at work: sending them, and what became of them.

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

use super::App;
use super::auth::Identity;
use super::json::Body;
use super::path::Id;
use super::problem::{Answer, Problem, ProblemBody};
use super::submission::{checked_context, checked_files, checked_id, checked_text};

/// How many of the past are told about.
const TOLD: u32 = 50;

#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewFollowUp {
    /// 1 to 64 000 characters.
    message: String,
    /// Where the person is, for example `url` and `content` of a page.
    #[serde(default)]
    context: Option<BTreeMap<String, String>>,
    /// Files of the session's workspace, at most 20.
    #[serde(default)]
    file_ids: Option<Vec<String>>,
    /// Your id for the message: sending it again changes nothing.
    #[serde(default)]
    message_id: Option<String>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct Queued {
    /// How many wait now, this one included.
    buffer_length: u32,
    max_buffer_length: u32,
    turn_in_flight: bool,
    follow_up: FollowUpView,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct FollowUps {
    /// The texts of those that wait.
    messages: Vec<String>,
    /// How many wait.
    count: usize,
    /// The newest of the session, in the order they came, whatever became of them.
    follow_ups: Vec<FollowUpView>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct FollowUpView {
    /// The id of its row in the history, once it is delivered.
    id: MessageId,
    /// The turn it is for.
    turn_id: TurnId,
    message: String,
    state: FollowUpState,
    /// The step of the turn before which the model was given it.
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

/// Send a message to the turn that is at work.
///
/// It reaches the model before its next step. When the turn fails first it is returned, when it is cancelled it is
/// dropped; the list says which.
#[utoipa::path(
    post, path = "/chat/sessions/{session_id}/messages/pending", operation_id = "send_follow_up", tag = "chat",
    params(("session_id" = String, Path)),
    request_body = NewFollowUp,
    responses(
        (status = 200, description = "It waits for the next step", body = Queued),
        (status = 404, description = "There is no such thing of yours", body = ProblemBody), (status = 409, description = "Nothing is at work, or the id was used before", body = ProblemBody), (status = 422, description = "Not valid", body = ProblemBody), (status = 429, description = "As many wait as may wait", body = ProblemBody),
    )
)]
pub(crate) async fn send(
    State(app): State<Arc<App>>,
    identity: Identity,
    Id(session_id): Id<SessionId>,
    Body(new): Body<NewFollowUp>,
) -> Answer<Json<Queued>> {
    if app.engine.is_shutting_down() {
        return Err(Problem::shutting_down());
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
        FollowUpPushed::Reused => return Err(Problem::message_id_reused()),
        FollowUpPushed::NoTurn => {
            return Err(Problem::new(
                ProblemCode::NoActiveTurn,
                "The session is not at work. Send this as a message.",
            ));
        }
        FollowUpPushed::Full => return Err(Problem::too_many_follow_ups()),
        FollowUpPushed::NoSession => return Err(Problem::no_session()),
    };
    Ok(Json(Queued {
        buffer_length: waiting,
        max_buffer_length: limits::FOLLOW_UPS,
        turn_in_flight: follow_up.state == FollowUpState::Pending,
        follow_up: (*follow_up).into(),
    }))
}

/// What became of the messages that were sent to turns at work.
#[utoipa::path(
    get, path = "/chat/sessions/{session_id}/messages/pending", operation_id = "list_follow_ups", tag = "chat",
    params(("session_id" = String, Path)),
    responses((status = 200, description = "Done", body = FollowUps), (status = 404, description = "There is no such thing of yours", body = ProblemBody))
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    identity: Identity,
    Id(session): Id<SessionId>,
) -> Answer<Json<FollowUps>> {
    let found = newest(&app, &identity, &session).await?;
    let waiting = found.iter().filter(|one| one.state == FollowUpState::Pending);
    let messages: Vec<String> = waiting.map(|one| one.text.clone()).collect();
    Ok(Json(FollowUps {
        count: messages.len(),
        messages,
        follow_ups: found.into_iter().map(FollowUpView::from).collect(),
    }))
}

async fn newest(app: &App, identity: &Identity, session: &SessionId) -> Answer<Vec<FollowUp>> {
    let found = app.ports.follow_ups.list(&identity.owner, session, TOLD).await?;
    found.ok_or_else(Problem::no_session)
}

async fn still_waiting(app: &App, identity: &Identity, session: &SessionId) -> Answer<u32> {
    let found = newest(app, identity, session).await?;
    Ok(found.iter().map(|one| u32::from(one.state == FollowUpState::Pending)).sum())
}
