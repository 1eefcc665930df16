//! Removing a session with everything that belongs to it.

use protocol::limits::UserLimits;
use protocol::session::Owner;
use protocol::{SessionId, TaskId};
use rusqlite::Connection;

use super::fault::Fault;
use super::job::Done;
use super::turns::places::admit;
use super::{Moment, log_read, rows, sessions};
use crate::live::News;

pub(super) fn delete(
    db: &Connection,
    now: Moment,
    caps: UserLimits,
    owner: &Owner,
    id: &SessionId,
) -> Result<Done<bool>, Fault> {
    if sessions::find(db, owner, id)?.is_none() {
        return Ok(Done::quietly(false));
    }
    let id = id.as_str();
    let slots: Vec<String> = db
        .prepare_cached(
            "SELECT DISTINCT slot FROM turn
             WHERE session_id = ?1 AND status IN ('queued', 'running')",
        )?
        .query_map([id], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let logs: Vec<(i64, TaskId)> = db
        .prepare_cached(
            "SELECT l.id, l.task_id FROM log AS l JOIN turn AS t ON t.id = l.task_id
             WHERE t.session_id = ?1",
        )?
        .query_map([id], |row| Ok((row.get(0)?, rows::id(row, "task_id")?)))?
        .collect::<Result<_, _>>()?;
    for (log, _) in &logs {
        db.prepare_cached("DELETE FROM segment WHERE position >= ?1 AND position < ?2")?
            .execute([log_read::position(*log, 0), log_read::position(*log + 1, 0)])?;
        db.prepare_cached("DELETE FROM log WHERE id = ?1")?.execute([log])?;
    }
    for statement in [
        "DELETE FROM journal WHERE turn_id IN (SELECT id FROM turn WHERE session_id = ?1)",
        "DELETE FROM follow_up WHERE session_id = ?1",
        "DELETE FROM operation WHERE session_id = ?1",
        "DELETE FROM message WHERE session_id = ?1",
        "UPDATE turn SET parent_turn_id = NULL
         WHERE parent_turn_id IN (SELECT id FROM turn WHERE session_id = ?1)",
        "DELETE FROM turn WHERE session_id = ?1",
        "UPDATE session SET parent_session_id = NULL WHERE parent_session_id = ?1",
        "DELETE FROM session WHERE id = ?1",
    ] {
        db.prepare_cached(statement)?.execute([id])?;
    }
    // The places of turns that were still open are free now; the sweeper finds who got them.
    for slot in slots {
        admit(db, now, caps, &slot)?;
    }
    let tasks = logs.into_iter().map(|(_, task)| task).collect();
    Ok(Done::with(true, News::LogsGone(tasks)))
}
