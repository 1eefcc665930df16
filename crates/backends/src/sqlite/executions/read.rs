//! Reads rows of executions, with their requests.

use protocol::execution::{Execution, ExecutionStatus};
use protocol::{ExecutionId, UserId};
use rusqlite::{Connection, OptionalExtension, Row};

use super::super::error::SqliteError;
use super::super::rows;

/// Columns of an `Execution`, selected from `EXECUTIONS`.
pub(super) const EXECUTION: &str = "e.id, e.user_id, e.graph_id, e.graph_version, e.status, \
    r.body AS request, e.parent_id, e.depth, e.fence, e.attempt, e.stop_requested, e.events, \
    e.stats, e.error, e.created_at, e.started_at, e.ended_at";

pub(super) const EXECUTIONS: &str =
    "execution AS e JOIN execution_request AS r ON r.number = e.number";

pub(super) fn execution(row: &Row<'_>) -> rusqlite::Result<Execution> {
    Ok(Execution {
        id: rows::id(row, "id")?,
        user_id: rows::id(row, "user_id")?,
        graph_id: rows::id(row, "graph_id")?,
        graph_version: row.get("graph_version")?,
        status: rows::word(row, "status", ExecutionStatus::parse)?,
        request: rows::json(row, "request")?,
        parent: rows::optional_id(row, "parent_id")?,
        depth: row.get("depth")?,
        fence: rows::number(row, "fence")?,
        attempt: row.get("attempt")?,
        stop_requested: row.get("stop_requested")?,
        events: rows::number(row, "events")?,
        stats: rows::json(row, "stats")?,
        error: rows::optional_json(row, "error")?,
        created_at: rows::time(row, "created_at")?,
        started_at: rows::optional_time(row, "started_at")?,
        ended_at: rows::optional_time(row, "ended_at")?,
    })
}

pub(super) fn of_user(
    db: &Connection,
    user: &UserId,
    id: &ExecutionId,
) -> Result<Option<Execution>, SqliteError> {
    let found = db
        .prepare_cached(&format!(
            "SELECT {EXECUTION} FROM {EXECUTIONS} WHERE e.id = ?1 AND e.user_id = ?2"
        ))?
        .query_row([id.as_str(), user.as_str()], execution)
        .optional()?;
    Ok(found)
}

/// The execution, regardless of its owner.
pub(super) fn by_id(db: &Connection, id: &ExecutionId) -> Result<Option<Execution>, SqliteError> {
    let found = db
        .prepare_cached(&format!("SELECT {EXECUTION} FROM {EXECUTIONS} WHERE e.id = ?1"))?
        .query_row([id.as_str()], execution)
        .optional()?;
    Ok(found)
}
