//! Which runs the queue should be told of: a column of the run itself, so that no change can forget it.

use protocol::ExecutionId;
use rusqlite::{Connection, params};

use super::super::fault::Fault;
use super::super::job::Done;
use super::super::rows;

/// Those that wait for a worker, and those whose worker has let its lease run out.
pub(super) fn due(db: &Connection, now: i64, limit: u32) -> Result<Vec<ExecutionId>, Fault> {
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
) -> Result<Done<()>, Fault> {
    // One that was claimed or has ended in between is no longer in the outbox and stays out.
    let mut update = db.prepare_cached(
        "UPDATE execution SET due_ms = ?2
         WHERE id = ?1 AND (status = 'QUEUED' OR status = 'RUNNING' AND lease_until_ms <= ?3)",
    )?;
    for id in ids {
        update.execute(params![id.as_str(), again, now])?;
    }
    Ok(Done::quietly(()))
}
