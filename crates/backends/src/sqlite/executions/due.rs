//! Executions to push to the queue. Kept in a column of the execution itself, so that every change of an execution
//! updates it.

use protocol::ExecutionId;
use rusqlite::{Connection, params};

use super::super::error::SqliteError;
use super::super::rows;
use super::super::write_job::WriteOutput;

/// Executions that wait for a worker, and those whose lease has expired.
pub(super) fn due(db: &Connection, now: i64, limit: u32) -> Result<Vec<ExecutionId>, SqliteError> {
    let due = db
        .prepare_cached(
            "SELECT id, due_ms AS since, number FROM execution
             WHERE status = 'QUEUED' AND due_ms <= ?1
             UNION ALL
             SELECT id, max(lease_until_ms, ifnull(due_ms, 0)) AS since, number FROM execution
             WHERE status = 'RUNNING' AND lease_until_ms <= ?1 AND ifnull(due_ms, 0) <= ?1
             ORDER BY since, number LIMIT ?2",
        )?
        .query_map(params![now, limit], |row| rows::id(row, "id"))?
        .collect::<Result<_, _>>()?;
    Ok(due)
}

pub(super) fn pushed(
    db: &Connection,
    now: i64,
    ids: &[ExecutionId],
    again: i64,
) -> Result<WriteOutput<()>, SqliteError> {
    // An execution that was claimed or ended meanwhile has left the outbox and stays out.
    let mut update = db.prepare_cached(
        "UPDATE execution SET due_ms = ?2
         WHERE id = ?1 AND (status = 'QUEUED' OR status = 'RUNNING' AND lease_until_ms <= ?3)",
    )?;
    for id in ids {
        update.execute(params![id.as_str(), again, now])?;
    }
    Ok(WriteOutput::silent(()))
}
