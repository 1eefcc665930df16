//! Whether a turn may start another one by a tool call.

use ports::store::{ParentTurn, TurnOpened};
use rusqlite::Connection;

use crate::sqlite::error::SqliteError;

/// Why a call of this parent may not start a turn; `None` when it may.
pub(crate) fn refusal(
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
