//! Background calls in the journal.

use ports::store::BackgroundEnd;
use protocol::message::ToolOutcome;
use protocol::{BackgroundId, CallId, TurnId};
use rusqlite::{Connection, params};

use crate::rules::turn_end::ENDED_WITH_ITS_TURN;
use crate::sqlite::error::SqliteError;

pub(crate) fn start(
    db: &Connection,
    turn: &TurnId,
    call: &CallId,
    id: &BackgroundId,
) -> Result<(), SqliteError> {
    let updated = db
        .prepare_cached(
            "UPDATE journal SET background_id = ?3 WHERE turn_id = ?1 AND call_id = ?2",
        )?
        .execute([turn.as_str(), call.as_str(), id.as_str()])?;
    require_background_call(updated)
}

/// Only the first end is stored.
pub(crate) fn end(
    db: &Connection,
    turn: &TurnId,
    call: &CallId,
    end: &BackgroundEnd,
) -> Result<(), SqliteError> {
    let updated = db
        .prepare_cached(
            "UPDATE journal SET output = iif(outcome IS NULL, ?4, output),
                 outcome = ifnull(outcome, ?3)
             WHERE turn_id = ?1 AND call_id = ?2 AND background_id IS NOT NULL",
        )?
        .execute([turn.as_str(), call.as_str(), end.outcome.as_str(), &end.output])?;
    require_background_call(updated)
}

pub(crate) fn mark_taken(db: &Connection, turn: &TurnId, call: &CallId) -> Result<(), SqliteError> {
    let updated = db
        .prepare_cached(
            "UPDATE journal SET taken = 1
             WHERE turn_id = ?1 AND call_id = ?2 AND background_id IS NOT NULL",
        )?
        .execute([turn.as_str(), call.as_str()])?;
    require_background_call(updated)
}

/// Ends the background calls that are still running when their turn ends.
pub(crate) fn end_all(db: &Connection, turn: &TurnId) -> Result<(), SqliteError> {
    db.prepare_cached(
        "UPDATE journal SET outcome = ?2, output = ?3
         WHERE turn_id = ?1 AND background_id IS NOT NULL AND outcome IS NULL",
    )?
    .execute(params![turn.as_str(), ToolOutcome::Cancelled.as_str(), ENDED_WITH_ITS_TURN])?;
    Ok(())
}

fn require_background_call(changed: usize) -> Result<(), SqliteError> {
    match changed {
        0 => Err(SqliteError::broken("the journal has no such background call")),
        _ => Ok(()),
    }
}
