//! Settles what ends with a turn: waiting follow-ups, background calls, and its operation.

use ports::store::TurnEnding;
use protocol::TurnId;
use protocol::turn::TurnClaim;
use rusqlite::Connection;

use super::background_calls;
use crate::rules::turn_end::{operation_result, undelivered_state};
use crate::sqlite::error::SqliteError;
use crate::sqlite::operations::result;

/// Number of follow-ups that wait for this turn.
pub(crate) fn waiting_follow_ups(db: &Connection, turn: &TurnId) -> Result<u32, SqliteError> {
    let waiting = db
        .prepare_cached("SELECT count(*) FROM follow_up WHERE turn_id = ?1 AND state = 'pending'")?
        .query_row([turn.as_str()], |row| row.get(0))?;
    Ok(waiting)
}

pub(crate) fn settle(
    db: &Connection,
    claim: &TurnClaim,
    ending: &TurnEnding,
) -> Result<(), SqliteError> {
    let turn = &claim.turn_id;
    db.prepare_cached("UPDATE follow_up SET state = ?2 WHERE turn_id = ?1 AND state = 'pending'")?
        .execute([turn.as_str(), undelivered_state(ending.status).as_str()])?;
    background_calls::end_all(db, turn)?;
    result::store_of_turn(db, turn, || operation_result(ending))
}
