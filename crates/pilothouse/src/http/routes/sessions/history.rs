//! A session with a page of its messages and its active turn.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use protocol::message::{Message, MessageRole, ToolCall, ToolOutcome};
use protocol::session::ChatStatus;
use protocol::{CallId, MessageId, OperationId, SessionId, TaskId, TurnId, UserId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::http::AppState;
use crate::http::extract::{CallerIdentity, PathId, Query};
use crate::http::problem::{ApiProblem, ApiResult};
use crate::http::responses::{InvalidField, NotFound};

#[derive(Deserialize, utoipa::IntoParams)]
pub(crate) struct PageQuery {
    /// 1 to 200; default 50. A page may be longer, so that it does not start inside a tool call.
    limit: Option<u32>,
    /// Only messages before this sequence number.
    before_sequence: Option<i64>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct SessionDetail {
    id: SessionId,
    title: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    user_id: Option<UserId>,
    chat_status: ChatStatus,
    is_pinned: bool,
    dry_run: bool,
    parent_session_id: Option<SessionId>,
    metadata: Value,
    /// Ascending. The output of a running turn is not included: it is in its stream.
    messages: Vec<MessageView>,
    has_more_messages: bool,
    oldest_sequence: Option<i64>,
    total_prompt_tokens: u64,
    total_completion_tokens: u64,
    total_cost_microdollars: u64,
    /// The queued or running turn; only on the newest page.
    active_stream: Option<ActiveStream>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct ActiveStream {
    turn_id: TurnId,
    task_id: TaskId,
    /// The position to start reading at so that nothing is missed.
    last_message_id: &'static str,
    #[schema(value_type = String, format = DateTime)]
    started_at: Timestamp,
    /// Set when the turn continues with the result of an operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    operation_id: Option<OperationId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<String>,
}

/// A message. Absent values are omitted.
#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct MessageView {
    id: MessageId,
    session_id: SessionId,
    turn_id: TurnId,
    sequence: i64,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    role: MessageRole,
    content: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<ToolCallView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<CallId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<ToolOutcome>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Value>,
}

/// A tool call in OpenAI's format.
#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct ToolCallView {
    id: CallId,
    /// Always `function`.
    #[serde(rename = "type")]
    kind: &'static str,
    function: FunctionView,
}

#[derive(Serialize, utoipa::ToSchema)]
struct FunctionView {
    name: String,
    /// JSON as written by the model.
    arguments: String,
}

impl From<ToolCall> for ToolCallView {
    fn from(call: ToolCall) -> Self {
        let function = FunctionView { name: call.name, arguments: call.arguments };
        Self { id: call.id, kind: "function", function }
    }
}

impl From<Message> for MessageView {
    /// Opaque provider data stays on the server.
    fn from(message: Message) -> Self {
        Self {
            id: message.id,
            session_id: message.session_id,
            turn_id: message.turn_id,
            sequence: message.sequence,
            created_at: message.created_at,
            role: message.role,
            content: message.content,
            reasoning: message.reasoning,
            tool_calls: message.tool_calls.into_iter().map(ToolCallView::from).collect(),
            tool_call_id: message.tool_call_id,
            name: message.name,
            outcome: message.outcome,
            model: message.model,
            duration_ms: message.duration_ms,
            metadata: message.metadata,
        }
    }
}

/// Read a session with its newest messages, or with the ones before a sequence number.
#[utoipa::path(
    get, path = "/chat/sessions/{session_id}", operation_id = "read_session", tag = "sessions",
    params(("session_id" = String, Path), PageQuery),
    responses((status = 200, description = "The session with a page of its messages", body = SessionDetail), NotFound, InvalidField)
)]
pub(crate) async fn read(
    State(app): State<Arc<AppState>>,
    identity: CallerIdentity,
    PathId(id): PathId<SessionId>,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<SessionDetail>> {
    let limit = query.limit.unwrap_or(50);
    if !(1..=200).contains(&limit) {
        return Err(ApiProblem::invalid("limit must be from 1 to 200."));
    }
    if query.before_sequence.is_some_and(|before| before < 0) {
        return Err(ApiProblem::invalid("before_sequence must not be negative."));
    }
    let owner = &identity.owner;
    // Read the active turn before the messages: a turn that ends in between is then in both, never in none.
    let active_stream = match query.before_sequence {
        Some(_) => None,
        None => active_stream(&app, &identity, &id).await?,
    };
    let page = app.ports.messages.page(owner, &id, limit, query.before_sequence).await?;
    let session = app.ports.sessions.get(owner, &id).await?;
    let (Some(page), Some(session)) = (page, session) else { return Err(ApiProblem::no_session()) };
    Ok(Json(SessionDetail {
        id: session.id,
        title: session.title,
        created_at: session.created_at,
        updated_at: session.updated_at,
        user_id: session.user_id,
        chat_status: session.chat_status,
        is_pinned: session.is_pinned,
        dry_run: session.dry_run,
        parent_session_id: session.parent_session_id,
        metadata: Value::Object(session.metadata),
        messages: page.messages.into_iter().map(MessageView::from).collect(),
        has_more_messages: page.has_more,
        oldest_sequence: page.oldest_sequence,
        total_prompt_tokens: session.total_prompt_tokens,
        total_completion_tokens: session.total_completion_tokens,
        total_cost_microdollars: session.total_cost_microdollars,
        active_stream,
    }))
}

async fn active_stream(
    app: &AppState,
    identity: &CallerIdentity,
    id: &SessionId,
) -> ApiResult<Option<ActiveStream>> {
    let current = app.ports.turns.current(&identity.owner, id).await?;
    Ok(current.filter(|(turn, _)| !turn.status.is_final()).map(|(turn, _)| ActiveStream {
        task_id: turn.id.task(),
        turn_id: turn.id,
        last_message_id: "0-0",
        started_at: turn.started_at.unwrap_or(turn.created_at),
        tool_name: turn.operation.as_ref().map(|operation| operation.tool_name.clone()),
        operation_id: turn.operation.map(|operation| operation.id),
    }))
}
