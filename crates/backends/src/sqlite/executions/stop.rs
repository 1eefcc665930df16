//! Stops an execution and all its sub-executions.

use protocol::execution::{Execution, ExecutionStatus};
use protocol::{ExecutionId, UserId};
use rusqlite::{Connection, params};

use super::find::by_id;
use super::tree::{TreeExecution, tree};
use crate::sqlite::error::SqliteError;
use crate::sqlite::write_job::WriteOutput;
use crate::sqlite::{StoreTime, reviews};

pub(crate) fn request_stop(
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
