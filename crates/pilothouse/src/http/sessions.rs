//! Conversations: made, listed, renamed, pinned, claimed, deleted.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use jiff::Timestamp;
use ports::store::{ListSessions, NewSession, SessionAssigned, TitleChange};
use protocol::session::{ChatStatus, Session};
use protocol::{SessionId, UserId, limits};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::App;
use super::auth::{Identity, Person};
use super::json::{Body, OptionalBody, Query};
use super::path::Id;
use super::problem::{Answer, Problem, ProblemBody};

/// Bytes of a session's metadata as JSON.
const METADATA_BYTES: usize = 16 * 1024;
/// Characters of a search; half a title finds as well as a whole one.
const SEARCH_CHARS: usize = 100;

#[derive(Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewSessionBody {
    /// Tools that change something only say what they would do. Cannot be changed later.
    #[serde(default)]
    dry_run: bool,
    #[serde(default)]
    metadata: Option<Map<String, Value>>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct CreatedSession {
    id: SessionId,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// Null for an anonymous session.
    user_id: Option<UserId>,
    metadata: Value,
}

#[derive(Deserialize, utoipa::IntoParams)]
pub(crate) struct ListQuery {
    /// 1 to 100; 50 when not given.
    limit: Option<u32>,
    offset: Option<u32>,
    /// Pinned sessions first (the default), or strictly the latest first.
    pinned_first: Option<bool>,
    /// Words that a title has to have, in any order, in capitals or not; 1 to 100 characters.
    search: Option<String>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct SessionList {
    sessions: Vec<SessionSummary>,
    total: u64,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct SessionSummary {
    id: SessionId,
    title: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    chat_status: ChatStatus,
    is_processing: bool,
    is_pinned: bool,
    parent_session_id: Option<SessionId>,
}

#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TitleBody {
    /// 1 to 200 characters.
    title: String,
}

#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PinnedBody {
    is_pinned: bool,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct Ok200 {
    /// Always `ok`.
    status: &'static str,
}

pub(super) const OK: Json<Ok200> = Json(Ok200 { status: "ok" });

impl From<Session> for SessionSummary {
    fn from(session: Session) -> Self {
        Self {
            id: session.id,
            title: session.title,
            created_at: session.created_at,
            updated_at: session.updated_at,
            is_processing: session.chat_status != ChatStatus::Idle,
            chat_status: session.chat_status,
            is_pinned: session.is_pinned,
            parent_session_id: session.parent_session_id,
        }
    }
}

/// Make a session.
#[utoipa::path(
    post, path = "/chat/sessions", operation_id = "create_session", tag = "sessions",
    request_body = Option<NewSessionBody>,
    responses((status = 200, description = "Done", body = CreatedSession), (status = 422, description = "Not valid", body = ProblemBody))
)]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    identity: Identity,
    OptionalBody(body): OptionalBody<NewSessionBody>,
) -> Answer<Json<CreatedSession>> {
    let body = body.unwrap_or_default();
    let metadata = match protocol::text::scrub(Value::Object(body.metadata.unwrap_or_default())) {
        Value::Object(metadata) => metadata,
        _ => Map::new(),
    };
    if Value::Object(metadata.clone()).to_string().len() > METADATA_BYTES {
        return Err(Problem::invalid(format!(
            "The metadata is larger than {METADATA_BYTES} bytes."
        )));
    }
    let new = NewSession { dry_run: body.dry_run, metadata, ..NewSession::default() };
    let session = app.ports.sessions.create(&identity.owner, new).await?;
    Ok(Json(CreatedSession {
        id: session.id,
        created_at: session.created_at,
        user_id: session.user_id,
        metadata: Value::Object(session.metadata),
    }))
}

/// Your sessions.
#[utoipa::path(
    get, path = "/chat/sessions", operation_id = "list_sessions", tag = "sessions",
    params(ListQuery),
    responses((status = 200, description = "Done", body = SessionList), (status = 422, description = "Not valid", body = ProblemBody))
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    identity: Identity,
    Query(query): Query<ListQuery>,
) -> Answer<Json<SessionList>> {
    let limit = query.limit.unwrap_or(50);
    if !(1..=100).contains(&limit) {
        return Err(Problem::invalid("limit must be from 1 to 100."));
    }
    let wanted = ListSessions {
        limit,
        offset: query.offset.unwrap_or(0),
        pinned_first: query.pinned_first.unwrap_or(true),
        words: query.search.as_deref().map(words).transpose()?.unwrap_or_default(),
    };
    let page = app.ports.sessions.list(&identity.owner, wanted).await?;
    let sessions = page.sessions.into_iter().map(SessionSummary::from).collect();
    Ok(Json(SessionList { sessions, total: page.total }))
}

/// Delete a session with everything in it. A running turn is stopped first.
#[utoipa::path(
    delete, path = "/chat/sessions/{session_id}", operation_id = "delete_session", tag = "sessions",
    params(("session_id" = String, Path)),
    responses((status = 204, description = "Done"), (status = 404, description = "There is no such thing of yours", body = ProblemBody))
)]
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    identity: Identity,
    Id(session): Id<SessionId>,
) -> Answer<StatusCode> {
    found(app.engine.delete_session(&identity.owner, &session).await?)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Give a session a title.
#[utoipa::path(
    patch, path = "/chat/sessions/{session_id}/title", operation_id = "set_session_title", tag = "sessions",
    params(("session_id" = String, Path)),
    request_body = TitleBody,
    responses((status = 200, description = "Done", body = Ok200), (status = 404, description = "There is no such thing of yours", body = ProblemBody), (status = 422, description = "Not valid", body = ProblemBody))
)]
pub(crate) async fn set_title(
    State(app): State<Arc<App>>,
    identity: Identity,
    Id(session): Id<SessionId>,
    Body(body): Body<TitleBody>,
) -> Answer<Json<Ok200>> {
    let title = protocol::text::without_nul(body.title.trim());
    if !(1..=limits::TITLE_CHARS).contains(&title.chars().count()) {
        return Err(Problem::invalid(format!(
            "A title has 1 to {} characters.",
            limits::TITLE_CHARS
        )));
    }
    let title = TitleChange::ByUser(title);
    found(app.ports.sessions.set_title(&identity.owner, &session, title).await?)?;
    Ok(OK)
}

/// Pin a session, or unpin it.
#[utoipa::path(
    patch, path = "/chat/sessions/{session_id}/pinned", operation_id = "set_session_pinned", tag = "sessions",
    params(("session_id" = String, Path)),
    request_body = PinnedBody,
    responses((status = 200, description = "Done", body = Ok200), (status = 404, description = "There is no such thing of yours", body = ProblemBody))
)]
pub(crate) async fn set_pinned(
    State(app): State<Arc<App>>,
    identity: Identity,
    Id(session): Id<SessionId>,
    Body(body): Body<PinnedBody>,
) -> Answer<Json<Ok200>> {
    found(app.ports.sessions.set_pinned(&identity.owner, &session, body.is_pinned).await?)?;
    Ok(OK)
}

/// Make an anonymous session your own.
#[utoipa::path(
    patch, path = "/chat/sessions/{session_id}/assign-user", operation_id = "assign_session", tag = "sessions",
    params(("session_id" = String, Path)),
    responses((status = 200, description = "Done", body = Ok200), (status = 404, description = "There is no such thing of yours", body = ProblemBody))
)]
pub(crate) async fn assign_user(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Id(session): Id<SessionId>,
) -> Answer<Json<Ok200>> {
    match app.ports.sessions.assign(&user, &session).await? {
        SessionAssigned::Done | SessionAssigned::Already => Ok(OK),
        SessionAssigned::NotFound => Err(Problem::no_session()),
    }
}

fn words(search: &str) -> Answer<Vec<String>> {
    let search = search.trim();
    if !(1..=SEARCH_CHARS).contains(&search.chars().count()) || search.contains(char::is_control) {
        return Err(Problem::invalid(format!("search has 1 to {SEARCH_CHARS} characters.")));
    }
    Ok(search.split_whitespace().map(str::to_owned).collect())
}

fn found(found: bool) -> Answer<()> {
    if found { Ok(()) } else { Err(Problem::no_session()) }
}
