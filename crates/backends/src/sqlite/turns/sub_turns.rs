//! Turns that were started by tool calls of other turns.

use ports::store::{ParentTurn, TurnOpened};
use protocol::session::Owner;
use protocol::turn::Turn;
use protocol::{SessionId, TurnId};
use rusqlite::{Connection, params};

use super::super::error::SqliteError;
use super::super::write_job::WriteOutput;
use super::super::{StoreTime, rows, sessions};
use super::by_id;

/// Why a call of this parent may not start a turn; `None` when it may.
pub(super) fn refusal(
    db: &Connection,
    parent: &ParentTurn,
) -> Result<Option<TurnOpened>, SqliteError> {
    let at_work = db
        .prepare_cached(
            "SELECT 1 FROM turn
             WHERE id = ?1 AND status IN ('queued', 'running') AND cancel_requested = 0",
        )?
        .exists([parent.turn.as_str()])?;
    if !at_work {
        return Ok(Some(TurnOpened::ParentEnded));
    }
    // Operations have a separate limit.
    let children: u32 = db
        .prepare_cached(
            "SELECT count(*) FROM turn AS t
             WHERE t.parent_turn_id = ?1 AND t.status IN ('queued', 'running')
               AND NOT EXISTS (SELECT 1 FROM operation AS p WHERE p.turn_id = t.id)",
        )?
        .query_row([parent.turn.as_str()], |row| row.get(0))?;
    Ok((children >= parent.fan_out).then_some(TurnOpened::TooManyChildren))
}

/// Requests cancellation of the session's open turns and of everything its turns have started, including ended ones.
pub(super) fn request_cancel(
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
        .query_map([session.as_str()], |row| rows::id(row, "id"))?
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
