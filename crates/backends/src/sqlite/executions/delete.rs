//! Deletes an execution with everything that belongs to it, including its sub-executions.

use ports::store::ExecutionDeleted;
use protocol::{ExecutionId, UserId};
use rusqlite::Connection;

use super::journal::position;
use super::tree::{TreeExecution, tree};
use crate::sqlite::error::SqliteError;
use crate::sqlite::write_job::WriteOutput;

pub(crate) fn delete(
    db: &Connection,
    user: &UserId,
    id: &ExecutionId,
) -> Result<WriteOutput<ExecutionDeleted>, SqliteError> {
    let tree = tree(db, user, id)?;
    if tree.is_empty() {
        return Ok(WriteOutput::silent(ExecutionDeleted::Missing));
    }
    if tree.iter().any(|execution| !execution.status.is_final()) {
        return Ok(WriteOutput::silent(ExecutionDeleted::Open));
    }
    for execution in &tree {
        remove(db, user, execution)?;
    }
    Ok(WriteOutput::silent(ExecutionDeleted::Deleted))
}

fn remove(db: &Connection, user: &UserId, execution: &TreeExecution) -> Result<(), SqliteError> {
    db.prepare_cached("DELETE FROM execution_journal WHERE position >= ?1 AND position < ?2")?
        .execute([position(execution.number, 0), position(execution.number + 1, 0)])?;
    for statement in [
        "DELETE FROM review WHERE user_id = ?1 AND execution_id = ?2",
        "DELETE FROM review_approval WHERE user_id = ?1 AND execution_id = ?2",
    ] {
        db.prepare_cached(statement)?.execute([user.as_str(), execution.id.as_str()])?;
    }
    for statement in [
        "DELETE FROM execution_request WHERE number = ?1",
        "DELETE FROM execution WHERE number = ?1",
    ] {
        db.prepare_cached(statement)?.execute([execution.number])?;
    }
    Ok(())
}
