//! Cancels a session: its turns, and everything they have started.

use protocol::session::Owner;
use protocol::turn::Turn;
use protocol::{SessionId, TurnId};
use rusqlite::{Connection, params};

use super::by_id;
use crate::rows::StoreRow;
use crate::sqlite::error::SqliteError;
use crate::sqlite::write_job::WriteOutput;
use crate::sqlite::{StoreTime, sessions};

/// Requests cancellation of the session's open turns and of everything its turns have started, including ended ones.
pub(crate) fn request_cancel(
    db: &Connection,
    now: StoreTime,
    owner: &Owner,
    session: &SessionId,
) -> Result<WriteOutput<Vec<Turn>>, SqliteError> {
    if sessions::find(db, owner, session)?.is_none() {
        return Ok(WriteOutput::silent(Vec::new()));
    }
    // All turns of this session are on the first level, so each is visited once, whichever turn started it.
    let open: Vec<TurnId> = db
        .prepare_cached(
            "WITH RECURSIVE tree (id, level) AS (
                 SELECT id, 0 FROM turn WHERE session_id = ?1
                 UNION ALL
                 SELECT t.id, tree.level + 1 FROM tree JOIN turn AS t ON t.parent_turn_id = tree.id
                 WHERE t.session_id <> ?1)
             SELECT t.id FROM tree JOIN turn AS t ON t.id = tree.id
             WHERE t.status IN ('queued', 'running') ORDER BY tree.level, t.rowid",
        )?
        .query_map([session.as_str()], |row| row.id("id"))?
        .collect::<Result<_, _>>()?;
    let mut marked = Vec::with_capacity(open.len());
    for turn in &open {
        // A resting turn would otherwise not be claimed before its time is over.
        db.prepare_cached(
            "UPDATE turn SET cancel_requested = 1, due_ms = iif(rests = 1, ?2, due_ms) WHERE id = ?1",
        )?
        .execute(params![turn.as_str(), now.ms])?;
        marked.extend(by_id(db, turn)?);
    }
    Ok(WriteOutput::silent(marked))
}
