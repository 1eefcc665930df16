//! Converts rows to protocol types. Columns are found by name, so that a select may have more of them and in any order.

use jiff::Timestamp;
use protocol::message::Message;
use protocol::session::{ChatStatus, Session};
use protocol::turn::{OperationRef, Turn, TurnError};
use protocol::usage::Usage;
use rusqlite::types::Type;
use rusqlite::{Result, Row};
use serde::de::DeserializeOwned;

use crate::words;

/// Columns of a `Session`; the table `session` has the alias `s`.
pub(super) const SESSION: &str = "s.id, s.user_id, s.title, s.is_pinned, s.dry_run, s.metadata, \
    s.parent_session_id, s.depth, s.created_at, s.updated_at, s.total_prompt_tokens, \
    s.total_completion_tokens, s.total_cost_microdollars, \
    (SELECT o.status FROM turn AS o WHERE o.session_id = s.id \
     AND o.ordinal > 0 AND o.status IN ('queued', 'running') ORDER BY o.ordinal LIMIT 1) AS open_status";

/// Columns of a `Turn`, selected from `TURNS`.
pub(super) const TURN: &str = "t.id, t.session_id, s.user_id, t.status, t.message_id, t.request, \
    t.fence, t.attempt, t.admitted, t.aside, t.parent_turn_id, p.id AS operation_id, \
    p.call_id AS operation_call, p.tool_name AS operation_tool, t.cancel_requested, t.error_code, t.error_message, t.prompt_tokens, \
    t.completion_tokens, t.cache_read_tokens, t.cache_write_tokens, t.cost_microdollars, \
    t.created_at, t.started_at, t.ended_at";

/// Turns with their sessions, and with the operations that some of them carry out.
pub(super) const TURNS: &str = "turn AS t JOIN session AS s ON s.id = t.session_id \
    LEFT JOIN operation AS p ON p.turn_id = t.id";

/// Columns of a `Message`; the table `message` has the alias `m`.
pub(super) const MESSAGE: &str = "m.session_id, m.sequence, m.id, m.turn_id, m.created_at, m.role, \
    m.content, m.reasoning, m.tool_calls, m.tool_call_id, m.name, m.outcome, m.model, \
    m.duration_ms, m.metadata, m.provider_state";

pub(super) fn session(row: &Row<'_>) -> Result<Session> {
    Ok(Session {
        id: id(row, "id")?,
        user_id: optional_id(row, "user_id")?,
        title: row.get("title")?,
        is_pinned: row.get("is_pinned")?,
        dry_run: row.get("dry_run")?,
        metadata: optional_json(row, "metadata")?.unwrap_or_default(),
        parent_session_id: optional_id(row, "parent_session_id")?,
        depth: row.get("depth")?,
        created_at: time(row, "created_at")?,
        updated_at: time(row, "updated_at")?,
        chat_status: match row.get::<_, Option<String>>("open_status")?.as_deref() {
            None => ChatStatus::Idle,
            Some("running") => ChatStatus::Running,
            Some(_) => ChatStatus::Queued,
        },
        total_prompt_tokens: number(row, "total_prompt_tokens")?,
        total_completion_tokens: number(row, "total_completion_tokens")?,
        total_cost_microdollars: number(row, "total_cost_microdollars")?,
    })
}

pub(super) fn turn(row: &Row<'_>) -> Result<Turn> {
    let code = optional_word(row, "error_code", words::failure)?;
    let message: Option<String> = row.get("error_message")?;
    Ok(Turn {
        id: id(row, "id")?,
        session_id: id(row, "session_id")?,
        user_id: optional_id(row, "user_id")?,
        status: word(row, "status", words::status)?,
        message_id: id(row, "message_id")?,
        request: optional_json(row, "request")?.unwrap_or_default(),
        fence: number(row, "fence")?,
        attempt: row.get("attempt")?,
        admitted: row.get("admitted")?,
        aside: row.get::<_, i64>("aside")? != 0,
        parent: optional_id(row, "parent_turn_id")?,
        operation: operation_ref(row)?,
        cancel_requested: row.get("cancel_requested")?,
        error: code.map(|code| TurnError { code, message: message.unwrap_or_default() }),
        usage: usage(row)?,
        created_at: time(row, "created_at")?,
        started_at: optional_time(row, "started_at")?,
        ended_at: optional_time(row, "ended_at")?,
    })
}

fn operation_ref(row: &Row<'_>) -> Result<Option<OperationRef>> {
    let Some(operation) = optional_id(row, "operation_id")? else { return Ok(None) };
    Ok(Some(OperationRef {
        id: operation,
        call_id: id(row, "operation_call")?,
        tool_name: row.get("operation_tool")?,
    }))
}

pub(super) fn message(row: &Row<'_>) -> Result<Message> {
    Ok(Message {
        id: id(row, "id")?,
        session_id: id(row, "session_id")?,
        turn_id: id(row, "turn_id")?,
        sequence: row.get("sequence")?,
        created_at: time(row, "created_at")?,
        role: word(row, "role", words::role)?,
        content: row.get("content")?,
        reasoning: row.get("reasoning")?,
        tool_calls: optional_json(row, "tool_calls")?.unwrap_or_default(),
        tool_call_id: optional_id(row, "tool_call_id")?,
        name: row.get("name")?,
        outcome: optional_word(row, "outcome", words::outcome)?,
        model: row.get("model")?,
        duration_ms: row.get::<_, Option<i64>>("duration_ms")?.map(|ms| ms as u64),
        metadata: optional_json(row, "metadata")?,
        provider_state: optional_json(row, "provider_state")?,
    })
}

pub(super) fn usage(row: &Row<'_>) -> Result<Usage> {
    Ok(Usage {
        prompt_tokens: number(row, "prompt_tokens")?,
        completion_tokens: number(row, "completion_tokens")?,
        cache_read_tokens: number(row, "cache_read_tokens")?,
        cache_write_tokens: number(row, "cache_write_tokens")?,
        cost_microdollars: row.get::<_, Option<i64>>("cost_microdollars")?.map(|cost| cost as u64),
    })
}

pub(super) fn id<T: From<String>>(row: &Row<'_>, column: &str) -> Result<T> {
    row.get::<_, String>(column).map(T::from)
}

pub(super) fn time(row: &Row<'_>, column: &str) -> Result<Timestamp> {
    optional_time(row, column)?
        .ok_or_else(|| unreadable(row, column, "the time is missing".to_owned()))
}

pub(super) fn word<T>(row: &Row<'_>, column: &str, read: fn(&str) -> Option<T>) -> Result<T> {
    optional_word(row, column, read)?
        .ok_or_else(|| unreadable(row, column, "the value is missing".to_owned()))
}

pub(super) fn optional_id<T: From<String>>(row: &Row<'_>, column: &str) -> Result<Option<T>> {
    Ok(row.get::<_, Option<String>>(column)?.map(T::from))
}

pub(super) fn optional_time(row: &Row<'_>, column: &str) -> Result<Option<Timestamp>> {
    row.get::<_, Option<i64>>(column)?
        .map(Timestamp::from_microsecond)
        .transpose()
        .map_err(|error| unreadable(row, column, error))
}

pub(super) fn optional_word<T>(
    row: &Row<'_>,
    column: &str,
    read: fn(&str) -> Option<T>,
) -> Result<Option<T>> {
    let Some(text) = row.get::<_, Option<String>>(column)? else { return Ok(None) };
    match read(&text) {
        Some(value) => Ok(Some(value)),
        None => Err(unreadable(row, column, format!("{text:?} is unknown"))),
    }
}

pub(super) fn optional_json<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> Result<Option<T>> {
    row.get::<_, Option<String>>(column)?
        .map(|text| serde_json::from_str(&text))
        .transpose()
        .map_err(|error| unreadable(row, column, error))
}

/// A JSON column that is never NULL.
pub(super) fn json<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> Result<T> {
    optional_json(row, column)?
        .ok_or_else(|| unreadable(row, column, "the value is missing".to_owned()))
}

/// The offset of a page as a statement parameter; a larger one is beyond all rows anyway.
pub(super) fn offset(offset: u64) -> i64 {
    i64::try_from(offset).unwrap_or(i64::MAX)
}

pub(super) fn number(row: &Row<'_>, column: &str) -> Result<u64> {
    row.get::<_, i64>(column).map(|number| number as u64)
}

fn unreadable(
    row: &Row<'_>,
    column: &str,
    error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> rusqlite::Error {
    let index = row.as_ref().column_index(column).unwrap_or_default();
    rusqlite::Error::FromSqlConversionFailure(index, Type::Text, error.into())
}
