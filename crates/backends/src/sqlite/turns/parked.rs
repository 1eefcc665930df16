//! Calls that went on in the background, as the journal knows them.

use ports::store::{BackgroundEnd, BackgroundRecord};
use protocol::message::ToolOutcome;
use protocol::{BackgroundId, CallId, TurnId};
use rusqlite::{Connection, Row, params};

use super::super::fault::Fault;
use super::super::rows;
use crate::words;

pub(super) fn park(
    db: &Connection,
    turn: &TurnId,
    call: &CallId,
    id: &BackgroundId,
) -> Result<(), Fault> {
    let parked = db
        .prepare_cached(
            "UPDATE journal SET background_id = ?3 WHERE turn_id = ?1 AND call_id = ?2",
        )?
        .execute([turn.as_str(), call.as_str(), id.as_str()])?;
    must_be_parked(parked)
}

/// The first end counts.
pub(super) fn end(
    db: &Connection,
    turn: &TurnId,
    call: &CallId,
    end: &BackgroundEnd,
) -> Result<(), Fault> {
    let known = db
        .prepare_cached(
            "UPDATE journal SET output = iif(outcome IS NULL, ?4, output),
                 outcome = ifnull(outcome, ?3)
             WHERE turn_id = ?1 AND call_id = ?2 AND background_id IS NOT NULL",
        )?
        .execute([turn.as_str(), call.as_str(), words::outcome_word(end.outcome), &end.output])?;
    must_be_parked(known)
}

pub(super) fn take(db: &Connection, turn: &TurnId, call: &CallId) -> Result<(), Fault> {
    let known = db
        .prepare_cached(
            "UPDATE journal SET taken = 1
             WHERE turn_id = ?1 AND call_id = ?2 AND background_id IS NOT NULL",
        )?
        .execute([turn.as_str(), call.as_str()])?;
    must_be_parked(known)
}

/// What still goes on ends with its turn.
pub(super) fn end_all(db: &Connection, turn: &TurnId) -> Result<(), Fault> {
    db.prepare_cached(
        "UPDATE journal SET outcome = ?2, output = ?3
         WHERE turn_id = ?1 AND background_id IS NOT NULL AND outcome IS NULL",
    )?
    .execute(params![
        turn.as_str(),
        words::outcome_word(ToolOutcome::Cancelled),
        words::ENDED_WITH_ITS_TURN
    ])?;
    Ok(())
}

pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Option<BackgroundRecord>> {
    let Some(id) = rows::optional_id(row, "background_id")? else { return Ok(None) };
    let end = match rows::optional_word(row, "outcome", words::outcome)? {
        Some(outcome) => Some(BackgroundEnd { outcome, output: row.get("output")? }),
        None => None,
    };
    Ok(Some(BackgroundRecord { id, end, taken: row.get("taken")? }))
}

fn must_be_parked(changed: usize) -> Result<(), Fault> {
    match changed {
        0 => Err(Fault::broken("the journal has no such call that goes on in the background")),
        _ => Ok(()),
    }
}
