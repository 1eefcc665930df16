//! Converts rows to protocol types. Columns are found by name, so that a select may have more of them and in any order.

use jiff::Timestamp;
use protocol::follow_up::FollowUp;
use protocol::message::{Message, ToolCall};
use protocol::operation::{Operation, OperationResult};
use protocol::session::{ChatStatus, Session};
use protocol::turn::{OperationRef, Turn, TurnError};
use protocol::usage::Usage;
use serde::de::DeserializeOwned;
use tokio_postgres::Row;
use tokio_postgres::types::FromSqlOwned;

use super::error::PostgresError;
use crate::words;

type Result<T> = std::result::Result<T, PostgresError>;

/// Columns of a `Session`; the table `session` has the alias `s`.
macro_rules! session_columns {
    () => {
        "s.id, s.user_id, s.title, s.is_pinned, s.dry_run, s.metadata, s.parent_session_id, \
         s.depth, s.created_at, s.updated_at, s.total_prompt_tokens, s.total_completion_tokens, \
         s.total_cost_microdollars, \
         (SELECT o.status FROM turn AS o WHERE o.session_id = s.id AND o.ordinal > 0 \
          AND o.status IN ('queued', 'running') ORDER BY o.ordinal LIMIT 1) AS open_status"
    };
}

/// Columns of a `Turn`; the table `turn` has the alias `t`, with the joins of `of_turn`.
macro_rules! turn_columns {
    () => {
        "t.id, t.session_id, s.user_id, t.status, t.message_id, t.request, t.fence, t.attempt, \
         t.admitted, t.aside, t.parent_turn_id, p.id AS operation_id, p.call_id, p.tool_name, \
         t.cancel_requested, t.error_code, t.error_message, t.prompt_tokens, t.completion_tokens, \
         t.cache_read_tokens, t.cache_write_tokens, t.cost_microdollars, t.created_at, \
         t.started_at, t.ended_at"
    };
}

/// Joins the session of a turn `t`, and the operation that it carries out, if any.
macro_rules! of_turn {
    () => {
        " JOIN session AS s ON s.id = t.session_id LEFT JOIN operation AS p ON p.turn_id = t.id "
    };
}

/// Columns of an `Operation`; the table `operation` has the alias `p`.
macro_rules! operation_columns {
    () => {
        "p.id, p.turn_id, p.session_id, p.asked_by, p.call_id, p.tool_name, p.arguments, p.state, \
         p.outcome, p.output, p.created_at"
    };
}

/// Columns of a `FollowUp`; the table `follow_up` has the alias `f`.
macro_rules! follow_up_columns {
    () => {
        "f.id, f.session_id, f.turn_id, f.content, f.state, f.step, f.created_at"
    };
}

/// Columns of a `Message`; the table `message` has the alias `m`.
macro_rules! message_columns {
    () => {
        "m.session_id, m.sequence, m.id, m.turn_id, m.created_at, m.role, m.content, m.reasoning, \
         m.tool_calls, m.tool_call_id, m.name, m.outcome, m.model, m.duration_ms, m.metadata, \
         m.provider_state"
    };
}

pub(super) use {
    follow_up_columns, message_columns, of_turn, operation_columns, session_columns, turn_columns,
};

pub(super) fn session(row: &Row) -> Result<Session> {
    Ok(Session {
        id: id(row, "id")?,
        user_id: optional_id(row, "user_id")?,
        title: get(row, "title")?,
        is_pinned: get(row, "is_pinned")?,
        dry_run: get(row, "dry_run")?,
        metadata: optional_json(row, "metadata")?.unwrap_or_default(),
        parent_session_id: optional_id(row, "parent_session_id")?,
        depth: get::<i32>(row, "depth")? as u32,
        created_at: time(row, "created_at")?,
        updated_at: time(row, "updated_at")?,
        chat_status: match get::<Option<String>>(row, "open_status")?.as_deref() {
            None => ChatStatus::Idle,
            Some("running") => ChatStatus::Running,
            Some(_) => ChatStatus::Queued,
        },
        total_prompt_tokens: number(row, "total_prompt_tokens")?,
        total_completion_tokens: number(row, "total_completion_tokens")?,
        total_cost_microdollars: number(row, "total_cost_microdollars")?,
    })
}

pub(super) fn turn(row: &Row) -> Result<Turn> {
    let code = optional_word(row, "error_code", words::failure)?;
    let message: Option<String> = get(row, "error_message")?;
    Ok(Turn {
        id: id(row, "id")?,
        session_id: id(row, "session_id")?,
        user_id: optional_id(row, "user_id")?,
        status: word(row, "status", words::status)?,
        message_id: id(row, "message_id")?,
        request: optional_json(row, "request")?.unwrap_or_default(),
        fence: number(row, "fence")?,
        attempt: get::<i32>(row, "attempt")? as u32,
        admitted: get(row, "admitted")?,
        aside: get::<i16>(row, "aside")? != 0,
        parent: optional_id(row, "parent_turn_id")?,
        operation: match optional_id(row, "operation_id")? {
            None => None,
            Some(operation) => Some(OperationRef {
                id: operation,
                call_id: id(row, "call_id")?,
                tool_name: get(row, "tool_name")?,
            }),
        },
        cancel_requested: get(row, "cancel_requested")?,
        error: code.map(|code| TurnError { code, message: message.unwrap_or_default() }),
        usage: usage(row)?,
        created_at: time(row, "created_at")?,
        started_at: optional_time(row, "started_at")?,
        ended_at: optional_time(row, "ended_at")?,
    })
}

pub(super) fn message(row: &Row) -> Result<Message> {
    Ok(Message {
        id: id(row, "id")?,
        session_id: id(row, "session_id")?,
        turn_id: id(row, "turn_id")?,
        sequence: get(row, "sequence")?,
        created_at: time(row, "created_at")?,
        role: word(row, "role", words::role)?,
        content: get(row, "content")?,
        reasoning: get(row, "reasoning")?,
        tool_calls: optional_json(row, "tool_calls")?.unwrap_or_default(),
        tool_call_id: optional_id(row, "tool_call_id")?,
        name: get(row, "name")?,
        outcome: optional_word(row, "outcome", words::outcome)?,
        model: get(row, "model")?,
        duration_ms: get::<Option<i64>>(row, "duration_ms")?.map(|ms| ms as u64),
        metadata: optional_json(row, "metadata")?,
        provider_state: optional_json(row, "provider_state")?,
    })
}

pub(super) fn operation(row: &Row) -> Result<Operation> {
    let outcome = optional_word(row, "outcome", words::outcome)?;
    let output: Option<String> = get(row, "output")?;
    Ok(Operation {
        id: id(row, "id")?,
        task_id: id(row, "turn_id")?,
        session_id: id(row, "session_id")?,
        asked_by: id(row, "asked_by")?,
        call: ToolCall {
            id: id(row, "call_id")?,
            name: get(row, "tool_name")?,
            arguments: get(row, "arguments")?,
        },
        state: word(row, "state", words::operation_state)?,
        result: outcome.zip(output).map(|(outcome, output)| OperationResult { output, outcome }),
        created_at: time(row, "created_at")?,
    })
}

pub(super) fn follow_up(row: &Row) -> Result<FollowUp> {
    Ok(FollowUp {
        id: id(row, "id")?,
        session_id: id(row, "session_id")?,
        turn_id: id(row, "turn_id")?,
        text: get(row, "content")?,
        state: word(row, "state", words::follow_up_state)?,
        step: get::<Option<i32>>(row, "step")?.map(|step| step as u32),
        created_at: time(row, "created_at")?,
    })
}

pub(super) fn usage(row: &Row) -> Result<Usage> {
    Ok(Usage {
        prompt_tokens: number(row, "prompt_tokens")?,
        completion_tokens: number(row, "completion_tokens")?,
        cache_read_tokens: number(row, "cache_read_tokens")?,
        cache_write_tokens: number(row, "cache_write_tokens")?,
        cost_microdollars: get::<Option<i64>>(row, "cost_microdollars")?.map(|cost| cost as u64),
    })
}

pub(super) fn get<T: FromSqlOwned>(row: &Row, column: &str) -> Result<T> {
    Ok(row.try_get(column)?)
}

pub(super) fn id<T: From<String>>(row: &Row, column: &str) -> Result<T> {
    get::<String>(row, column).map(T::from)
}

pub(super) fn optional_id<T: From<String>>(row: &Row, column: &str) -> Result<Option<T>> {
    Ok(get::<Option<String>>(row, column)?.map(T::from))
}

/// A count or a position, which a column stores as a signed integer.
pub(super) fn number(row: &Row, column: &str) -> Result<u64> {
    get::<i64>(row, column).map(|number| number as u64)
}

pub(super) fn time(row: &Row, column: &str) -> Result<Timestamp> {
    optional_time(row, column)?.ok_or_else(|| unreadable(column, "the time is missing"))
}

pub(super) fn word<T>(row: &Row, column: &str, read: fn(&str) -> Option<T>) -> Result<T> {
    optional_word(row, column, read)?.ok_or_else(|| unreadable(column, "the value is missing"))
}

pub(super) fn optional_time(row: &Row, column: &str) -> Result<Option<Timestamp>> {
    get::<Option<i64>>(row, column)?
        .map(Timestamp::from_microsecond)
        .transpose()
        .map_err(|error| unreadable(column, error))
}

pub(super) fn optional_word<T>(
    row: &Row,
    column: &str,
    read: fn(&str) -> Option<T>,
) -> Result<Option<T>> {
    let Some(text) = get::<Option<String>>(row, column)? else { return Ok(None) };
    match read(&text) {
        Some(value) => Ok(Some(value)),
        None => Err(unreadable(column, format!("{text:?} is unknown"))),
    }
}

pub(super) fn json<T: DeserializeOwned>(row: &Row, column: &str) -> Result<T> {
    optional_json(row, column)?.ok_or_else(|| unreadable(column, "the value is missing"))
}

pub(super) fn optional_json<T: DeserializeOwned>(row: &Row, column: &str) -> Result<Option<T>> {
    get::<Option<String>>(row, column)?
        .map(|text| serde_json::from_str(&text))
        .transpose()
        .map_err(|error| unreadable(column, error))
}

/// A small count, which a column stores as a signed integer.
pub(super) fn small(row: &Row, column: &str) -> Result<u32> {
    get::<i32>(row, column).map(|number| number as u32)
}

fn unreadable(column: &str, reason: impl std::fmt::Display) -> PostgresError {
    PostgresError::broken(format!("the column {column} cannot be read: {reason}"))
}
