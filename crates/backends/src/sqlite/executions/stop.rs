//! Stops an execution and all its sub-executions.

use protocol::execution::{Execution, ExecutionStatus};
use protocol::{ExecutionId, UserId};
use rusqlite::{Connection, params};

use super::super::error::SqliteError;
use super::super::write_job::WriteOutput;
use super::super::{StoreTime, reviews, rows};
use super::read::by_id;

/// The execution `?1` of the user `?2` and all below it, level by level.
const TREE: &str = "\
    WITH RECURSIVE tree (id, level) AS (
        SELECT id, 0 FROM execution WHERE id = ?1 AND user_id = ?2
        UNION ALL
        SELECT e.id, tree.level + 1 FROM tree JOIN execution AS e ON e.parent_id = tree.id)
    SELECT e.number, e.id, e.status FROM tree JOIN execution AS e ON e.id = tree.id
    ORDER BY tree.level, e.number";

/// An execution of a tree.
pub(super) struct TreeExecution {
    pub(super) number: i64,
    pub(super) id: ExecutionId,
    pub(super) status: ExecutionStatus,
}

/// The execution itself comes first; empty when it does not exist.
pub(super) fn tree(
    db: &Connection,
    user: &UserId,
    id: &ExecutionId,
) -> Result<Vec<TreeExecution>, SqliteError> {
    let executions = db
        .prepare_cached(TREE)?
        .query_map([id.as_str(), user.as_str()], |row| {
            Ok(TreeExecution {
                number: row.get("number")?,
                id: rows::id(row, "id")?,
                status: rows::word(row, "status", ExecutionStatus::parse)?,
            })
        })?
        .collect::<Result<_, _>>()?;
    Ok(executions)
}

pub(super) fn request_stop(
    db: &Connection,
    now: StoreTime,
    user: &UserId,
    id: &ExecutionId,
) -> Result<WriteOutput<Option<Vec<Execution>>>, SqliteError> {
    let tree = tree(db, user, id)?;
    if tree.is_empty() {
        return Ok(WriteOutput::silent(None));
    }
    let mut reached = Vec::with_capacity(tree.len());
    for execution in &tree {
        if !execution.status.is_final() {
            stop(db, now, execution)?;
        }
        if !execution.status.is_final() || execution.id == *id {
            reached.extend(by_id(db, &execution.id)?);
        }
    }
    Ok(WriteOutput::silent(Some(reached)))
}

/// A running execution is ended by its lease holder; any other ends here.
fn stop(db: &Connection, now: StoreTime, execution: &TreeExecution) -> Result<(), SqliteError> {
    if execution.status == ExecutionStatus::Running {
        db.prepare_cached("UPDATE execution SET stop_requested = 1 WHERE number = ?1")?
            .execute([execution.number])?;
        return Ok(());
    }
    db.prepare_cached(
        "UPDATE execution SET stop_requested = 1, status = 'TERMINATED', ended_at = ?2,
             due_ms = NULL
         WHERE number = ?1",
    )?
    .execute(params![execution.number, now.wall_us])?;
    reviews::withdraw(db, &execution.id)
}
