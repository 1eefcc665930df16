//! An execution with all executions below it, at any depth. An ended execution may have started others that still run,
//! so the traversal includes ended ones.

use protocol::execution::ExecutionStatus;
use protocol::{ExecutionId, UserId};
use rusqlite::Connection;

use crate::rows::StoreRow;
use crate::sqlite::error::SqliteError;

/// The execution `?1` of the user `?2` and all below it, level by level.
const TREE: &str = "\
    WITH RECURSIVE tree (id, level) AS (
        SELECT id, 0 FROM execution WHERE id = ?1 AND user_id = ?2
        UNION ALL
        SELECT e.id, tree.level + 1 FROM tree JOIN execution AS e ON e.parent_id = tree.id)
    SELECT e.number, e.id, e.status FROM tree JOIN execution AS e ON e.id = tree.id
    ORDER BY tree.level, e.number";

/// An execution of a tree.
pub(crate) struct TreeExecution {
    pub(crate) number: i64,
    pub(crate) id: ExecutionId,
    pub(crate) status: ExecutionStatus,
}

/// The execution itself comes first; empty when it does not exist.
pub(crate) fn tree(
    db: &Connection,
    user: &UserId,
    id: &ExecutionId,
) -> Result<Vec<TreeExecution>, SqliteError> {
    let executions = db
        .prepare_cached(TREE)?
        .query_map([id.as_str(), user.as_str()], |row| {
            Ok(TreeExecution {
                number: row.get("number")?,
                id: row.id("id")?,
                status: row.word("status")?,
            })
        })?
        .collect::<Result<_, _>>()?;
    Ok(executions)
}
