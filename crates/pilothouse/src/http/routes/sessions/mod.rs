//! Sessions: created, listed, renamed, pinned, assigned, deleted.

mod history;

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
use utoipa_axum::routes;

use crate::http::AppState;
use crate::http::extract::{
    CallerIdentity, JsonBody, OptionalJsonBody, PathId, Query, SignedInUser,
};
use crate::http::problem::{ApiProblem, ApiResult};
use crate::http::responses::{InvalidField, NotFound};
use crate::http::routes::ApiRoutes;

/// Maximum size of a session's metadata as JSON.
const METADATA_BYTES: usize = 16 * 1024;
/// Maximum characters of a search; half a title finds as well as a whole one.
const SEARCH_CHARS: usize = 100;

pub(crate) fn routes() -> ApiRoutes {
    ApiRoutes::new()
        .routes(routes!(assign_user))
        .routes(routes!(create, list))
        .routes(routes!(history::read, delete))
        .routes(routes!(set_pinned))
        .routes(routes!(set_title))
}

#[derive(Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewSessionBody {
    /// Tools with side effects only report what they would do. Cannot be changed later.
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
pub(crate) struct SessionListQuery {
    /// 1 to 100; default 50.
    limit: Option<u32>,
    offset: Option<u32>,
    /// Pinned sessions first (the default), or strictly the most recent first.
    pinned_first: Option<bool>,
    /// Words that the title must contain, in any order, ignoring case; 1 to 100 characters.
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
pub(crate) struct StatusOk {
    /// Always `ok`.
    status: &'static str,
}

pub(crate) const OK: Json<StatusOk> = Json(StatusOk { status: "ok" });

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

/// Create a session.
#[utoipa::path(
    post, path = "/chat/sessions", operation_id = "create_session", tag = "sessions",
    request_body = Option<NewSessionBody>,
    responses((status = 200, description = "The new session", body = CreatedSession), InvalidField)
)]
async fn create(
    State(app): State<Arc<AppState>>,
    identity: CallerIdentity,
    OptionalJsonBody(body): OptionalJsonBody<NewSessionBody>,
) -> ApiResult<Json<CreatedSession>> {
    let body = body.unwrap_or_default();
    let metadata = match protocol::text::scrub(Value::Object(body.metadata.unwrap_or_default())) {
        Value::Object(metadata) => metadata,
        _ => Map::new(),
    };
    if Value::Object(metadata.clone()).to_string().len() > METADATA_BYTES {
        return Err(ApiProblem::invalid(format!(
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

/// List your sessions.
#[utoipa::path(
    get, path = "/chat/sessions", operation_id = "list_sessions", tag = "sessions",
    params(SessionListQuery),
    responses((status = 200, description = "A page of sessions", body = SessionList), InvalidField)
)]
async fn list(
    State(app): State<Arc<AppState>>,
    identity: CallerIdentity,
    Query(query): Query<SessionListQuery>,
) -> ApiResult<Json<SessionList>> {
    let limit = query.limit.unwrap_or(50);
    if !(1..=100).contains(&limit) {
        return Err(ApiProblem::invalid("limit must be from 1 to 100."));
    }
    let request = ListSessions {
        limit,
        offset: query.offset.unwrap_or(0),
        pinned_first: query.pinned_first.unwrap_or(true),
        words: query.search.as_deref().map(words).transpose()?.unwrap_or_default(),
    };
    let page = app.ports.sessions.list(&identity.owner, request).await?;
    let sessions = page.sessions.into_iter().map(SessionSummary::from).collect();
    Ok(Json(SessionList { sessions, total: page.total }))
}

/// Delete a session with all its contents. A running turn is canceled first.
#[utoipa::path(
    delete, path = "/chat/sessions/{session_id}", operation_id = "delete_session", tag = "sessions",
    params(("session_id" = String, Path)),
    responses((status = 204, description = "Deleted"), NotFound)
)]
async fn delete(
    State(app): State<Arc<AppState>>,
    identity: CallerIdentity,
    PathId(session): PathId<SessionId>,
) -> ApiResult<StatusCode> {
    found(app.engine.delete_session(&identity.owner, &session).await?)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Set the title of a session.
#[utoipa::path(
    patch, path = "/chat/sessions/{session_id}/title", operation_id = "set_session_title", tag = "sessions",
    params(("session_id" = String, Path)),
    request_body = TitleBody,
    responses((status = 200, description = "The title was set", body = StatusOk), NotFound, InvalidField)
)]
async fn set_title(
    State(app): State<Arc<AppState>>,
    identity: CallerIdentity,
    PathId(session): PathId<SessionId>,
    JsonBody(body): JsonBody<TitleBody>,
) -> ApiResult<Json<StatusOk>> {
    let title = protocol::text::without_nul(body.title.trim());
    if !(1..=limits::TITLE_CHARS).contains(&title.chars().count()) {
        return Err(ApiProblem::invalid(format!(
            "The title must have 1 to {} characters.",
            limits::TITLE_CHARS
        )));
    }
    let title = TitleChange::ByUser(title);
    found(app.ports.sessions.set_title(&identity.owner, &session, title).await?)?;
    Ok(OK)
}

/// Pin or unpin a session.
#[utoipa::path(
    patch, path = "/chat/sessions/{session_id}/pinned", operation_id = "set_session_pinned", tag = "sessions",
    params(("session_id" = String, Path)),
    request_body = PinnedBody,
    responses((status = 200, description = "The pin was set", body = StatusOk), NotFound)
)]
async fn set_pinned(
    State(app): State<Arc<AppState>>,
    identity: CallerIdentity,
    PathId(session): PathId<SessionId>,
    JsonBody(body): JsonBody<PinnedBody>,
) -> ApiResult<Json<StatusOk>> {
    found(app.ports.sessions.set_pinned(&identity.owner, &session, body.is_pinned).await?)?;
    Ok(OK)
}

/// Assign an anonymous session to yourself.
#[utoipa::path(
    patch, path = "/chat/sessions/{session_id}/assign-user", operation_id = "assign_session", tag = "sessions",
    params(("session_id" = String, Path)),
    responses((status = 200, description = "The session belongs to the caller", body = StatusOk), NotFound)
)]
async fn assign_user(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    PathId(session): PathId<SessionId>,
) -> ApiResult<Json<StatusOk>> {
    match app.ports.sessions.assign(&user, &session).await? {
        SessionAssigned::Done | SessionAssigned::Already => Ok(OK),
        SessionAssigned::NotFound => Err(ApiProblem::no_session()),
    }
}

fn words(search: &str) -> ApiResult<Vec<String>> {
    let search = search.trim();
    if !(1..=SEARCH_CHARS).contains(&search.chars().count()) || search.contains(char::is_control) {
        return Err(ApiProblem::invalid(format!(
            "search must have 1 to {SEARCH_CHARS} characters."
        )));
    }
    Ok(search.split_whitespace().map(str::to_owned).collect())
}

fn found(found: bool) -> ApiResult<()> {
    if found { Ok(()) } else { Err(ApiProblem::no_session()) }
}
