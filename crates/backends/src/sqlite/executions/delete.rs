//! Removing a run with everything that belongs to it, the runs that it has started included.

use ports::store::ExecutionDeleted;
use protocol::{ExecutionId, UserId};
use rusqlite::Connection;

use super::super::fault::Fault;
use super::super::job::Done;
use super::journal::position;
use super::stop::{Branch, tree};

pub(super) fn delete(
    db: &Connection,
    user: &UserId,
    id: &ExecutionId,
) -> Result<Done<ExecutionDeleted>, Fault> {
    let tree = tree(db, user, id)?;
    if tree.is_empty() {
        return Ok(Done::quietly(ExecutionDeleted::Missing));
    }
    if tree.iter().any(|branch| !branch.status.is_final()) {
        return Ok(Done::quietly(ExecutionDeleted::Open));
    }
    for branch in &tree {
        remove(db, user, branch)?;
    }
    Ok(Done::quietly(ExecutionDeleted::Deleted))
}

fn remove(db: &Connection, user: &UserId, branch: &Branch) -> Result<(), Fault> {
    db.prepare_cached("DELETE FROM execution_journal WHERE position >= ?1 AND position < ?2")?
        .execute([position(branch.number, 0), position(branch.number + 1, 0)])?;
    for statement in [
        "DELETE FROM review WHERE user_id = ?1 AND execution_id = ?2",
        "DELETE FROM review_approval WHERE user_id = ?1 AND execution_id = ?2",
    ] {
        db.prepare_cached(statement)?.execute([user.as_str(), branch.id.as_str()])?;
    }
    for statement in [
        "DELETE FROM execution_request WHERE number = ?1",
        "DELETE FROM execution WHERE number = ?1",
    ] {
        db.prepare_cached(statement)?.execute([branch.number])?;
    }
    Ok(())
}
