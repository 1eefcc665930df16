//! Deletes a session with everything that belongs to it.

use protocol::limits::UserLimits;
use protocol::session::Owner;
use protocol::{SessionId, TaskId};
use rusqlite::Connection;

use super::error::SqliteError;
use super::turns::permits::admit;
use super::write_job::WriteOutput;
use super::{StoreTime, log_read, sessions};
use crate::live::StoreEvent;
use crate::rows::StoreRow;

pub(crate) fn delete(
    db: &Connection,
    now: StoreTime,
    caps: UserLimits,
    owner: &Owner,
    id: &SessionId,
) -> Result<WriteOutput<bool>, SqliteError> {
    if sessions::find(db, owner, id)?.is_none() {
        return Ok(WriteOutput::silent(false));
    }
    let id = id.as_str();
    let quota_keys: Vec<String> = db
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
        .query_map([id], |row| Ok((row.get(0)?, row.id("task_id")?)))?
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
    // The permits of its open turns are free now; the sweeper finds the turns that got them.
    for quota_key in quota_keys {
        admit(db, now, caps, &quota_key)?;
    }
    let tasks = logs.into_iter().map(|(_, task)| task).collect();
    Ok(WriteOutput::with_event(true, StoreEvent::LogsGone(tasks)))
}
