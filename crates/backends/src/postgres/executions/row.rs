//! Converts rows of executions to protocol types.

use protocol::execution::{Execution, ExecutionStatus};
use tokio_postgres::Row;

use super::super::error::PostgresError;
use super::super::rows;

/// Columns of an `Execution`; the table `execution` has the alias `e`.
macro_rules! execution_columns {
    () => {
        "e.id, e.user_id, e.graph_id, e.graph_version, e.status, e.request, e.parent_id, e.depth, \
         e.fence, e.attempt, e.stop_requested, e.events, e.stats, e.error, e.created_at, \
         e.started_at, e.ended_at"
    };
}

pub(super) use execution_columns;

pub(super) fn execution(row: &Row) -> Result<Execution, PostgresError> {
    Ok(Execution {
        id: rows::id(row, "id")?,
        user_id: rows::id(row, "user_id")?,
        graph_id: rows::id(row, "graph_id")?,
        graph_version: rows::small(row, "graph_version")?,
        status: status(row)?,
        request: rows::json(row, "request")?,
        parent: rows::optional_id(row, "parent_id")?,
        depth: rows::small(row, "depth")?,
        fence: rows::number(row, "fence")?,
        attempt: rows::small(row, "attempt")?,
        stop_requested: rows::get(row, "stop_requested")?,
        events: rows::number(row, "events")?,
        stats: rows::json(row, "stats")?,
        error: rows::optional_json(row, "error")?,
        created_at: rows::time(row, "created_at")?,
        started_at: rows::optional_time(row, "started_at")?,
        ended_at: rows::optional_time(row, "ended_at")?,
    })
}

pub(super) fn status(row: &Row) -> Result<ExecutionStatus, PostgresError> {
    rows::word(row, "status", ExecutionStatus::parse)
}
