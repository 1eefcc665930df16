//! What an operation came to. Whoever says it first is believed.

use ports::store::{OperationCompleted, OperationKey};
use protocol::TurnId;
use protocol::limits::UserLimits;
use protocol::message::ToolOutcome;
use protocol::operation::{Operation, OperationResult};
use protocol::turn::TurnStatus;
use rusqlite::{Connection, params};

use super::super::Moment;
use super::super::fault::Fault;
use super::super::job::Done;
use super::super::turns::by_id;
use super::super::turns::places::wake;
use super::{carried_out_by, find};
use crate::words;

pub(super) fn complete(
    db: &Connection,
    now: Moment,
    caps: UserLimits,
    which: &OperationKey,
    result: &OperationResult,
) -> Result<Done<OperationCompleted>, Fault> {
    let Some(operation) = find(db, which)? else {
        return Ok(Done::quietly(OperationCompleted::Unknown));
    };
    let task_id = operation.task_id.clone();
    if operation.result.is_some() {
        return Ok(Done::quietly(OperationCompleted::Before { task_id }));
    }
    store(db, &operation, result)?;
    let due = make_due(db, now, caps, &task_id.turn())?;
    Ok(Done::quietly(OperationCompleted::Done { task_id, due }))
}

/// The turn of an operation ends: if nobody has said what it came to, this is it.
pub(in super::super) fn settle(
    db: &Connection,
    turn: &TurnId,
    result: Option<&OperationResult>,
) -> Result<(), Fault> {
    match carried_out_by(db, turn)? {
        Some(operation) if operation.result.is_none() => match result {
            Some(result) => store(db, &operation, result),
            None => store(db, &operation, &ended_with_its_turn()),
        },
        _ => Ok(()),
    }
}

fn ended_with_its_turn() -> OperationResult {
    let output = words::ENDED_WITH_ITS_TURN.to_owned();
    OperationResult { output, outcome: ToolOutcome::Cancelled }
}

/// With the row of the history that has stood for it so far.
fn store(db: &Connection, operation: &Operation, result: &OperationResult) -> Result<(), Fault> {
    let outcome = words::outcome_word(result.outcome);
    db.prepare_cached(
        "UPDATE operation SET state = 'ended', outcome = ?2, output = ?3 WHERE id = ?1",
    )?
    .execute([operation.id.as_str(), outcome, &result.output])?;
    let replaced = db
        .prepare_cached(
            "UPDATE message SET content = ?3, outcome = ?4 WHERE turn_id = ?1 AND tool_call_id = ?2",
        )?
        .execute(params![
            operation.asked_by.as_str(),
            operation.call.id.as_str(),
            result.output,
            outcome
        ])?;
    match replaced {
        1 => Ok(()),
        _ => Err(Fault::broken("the pending row of an operation cannot be found")),
    }
}

/// Whether the turn may be pushed: one that a worker holds stays with it, and one that rested needs a place first.
fn make_due(db: &Connection, now: Moment, caps: UserLimits, turn: &TurnId) -> Result<bool, Fault> {
    if wake(db, now, caps, turn)? {
        return Ok(true);
    }
    let turn = by_id(db, turn)?.ok_or_else(|| Fault::broken("an operation has lost its turn"))?;
    Ok(turn.status == TurnStatus::Queued && (turn.admitted || turn.cancel_requested))
}
