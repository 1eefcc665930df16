//! A stop, which reaches a run and all that it has started.

use protocol::execution::{Execution, ExecutionStatus};
use protocol::{ExecutionId, UserId};
use rusqlite::{Connection, params};

use super::super::fault::Fault;
use super::super::job::Done;
use super::super::{Moment, reviews, rows};
use super::read::by_id;

/// The run `?1` of the user `?2` and all below it, level by level.
const TREE: &str = "\
    WITH RECURSIVE tree (id, level) AS (
        SELECT id, 0 FROM execution WHERE id = ?1 AND user_id = ?2
        UNION ALL
        SELECT e.id, tree.level + 1 FROM tree JOIN execution AS e ON e.parent_id = tree.id)
    SELECT e.number, e.id, e.status FROM tree JOIN execution AS e ON e.id = tree.id
    ORDER BY tree.level, e.number";

/// A run of a tree.
pub(super) struct Branch {
    pub(super) number: i64,
    pub(super) id: ExecutionId,
    pub(super) status: ExecutionStatus,
}

/// The run first; nothing when there is no such run.
pub(super) fn tree(db: &Connection, user: &UserId, id: &ExecutionId) -> Result<Vec<Branch>, Fault> {
    let branches = db
        .prepare_cached(TREE)?
        .query_map([id.as_str(), user.as_str()], |row| {
            Ok(Branch {
                number: row.get("number")?,
                id: rows::id(row, "id")?,
                status: rows::word(row, "status", ExecutionStatus::parse)?,
            })
        })?
        .collect::<Result<_, _>>()?;
    Ok(branches)
}

pub(super) fn request_stop(
    db: &Connection,
    now: Moment,
    user: &UserId,
    id: &ExecutionId,
) -> Result<Done<Option<Vec<Execution>>>, Fault> {
    let tree = tree(db, user, id)?;
    if tree.is_empty() {
        return Ok(Done::quietly(None));
    }
    let mut reached = Vec::with_capacity(tree.len());
    for branch in &tree {
        if !branch.status.is_final() {
            stop(db, now, branch)?;
        }
        if !branch.status.is_final() || branch.id == *id {
            reached.extend(by_id(db, &branch.id)?);
        }
    }
    Ok(Done::quietly(Some(reached)))
}

/// Whoever holds it ends it; what nobody holds ends here.
fn stop(db: &Connection, now: Moment, branch: &Branch) -> Result<(), Fault> {
    if branch.status == ExecutionStatus::Running {
        db.prepare_cached("UPDATE execution SET stop_requested = 1 WHERE number = ?1")?
            .execute([branch.number])?;
        return Ok(());
    }
    db.prepare_cached(
        "UPDATE execution SET stop_requested = 1, status = 'TERMINATED', ended_at = ?2,
             due_ms = NULL
         WHERE number = ?1",
    )?
    .execute(params![branch.number, now.wall_us])?;
    reviews::withdraw(db, &branch.id)
}
