//! Results of operations. The first result is kept.

use ports::store::{OperationCompleted, OperationKey};
use protocol::TurnId;
use protocol::limits::UserLimits;
use protocol::message::ToolOutcome;
use protocol::operation::{Operation, OperationResult};
use protocol::turn::TurnStatus;
use rusqlite::{Connection, params};

use super::super::StoreTime;
use super::super::error::SqliteError;
use super::super::turns::by_id;
use super::super::turns::permits::end_rest;
use super::super::write_job::WriteOutput;
use super::{find, operation_of_turn};
use crate::words;

pub(super) fn complete(
    db: &Connection,
    now: StoreTime,
    caps: UserLimits,
    which: &OperationKey,
    result: &OperationResult,
) -> Result<WriteOutput<OperationCompleted>, SqliteError> {
    let Some(operation) = find(db, which)? else {
        return Ok(WriteOutput::silent(OperationCompleted::Unknown));
    };
    let task_id = operation.task_id.clone();
    if operation.result.is_some() {
        return Ok(WriteOutput::silent(OperationCompleted::Before { task_id }));
    }
    store(db, &operation, result)?;
    let due = make_due(db, now, caps, &task_id.turn())?;
    Ok(WriteOutput::silent(OperationCompleted::Done { task_id, due }))
}

/// The turn of an operation ends: without a result, the operation ends with it.
pub(in super::super) fn settle(
    db: &Connection,
    turn: &TurnId,
    result: Option<&OperationResult>,
) -> Result<(), SqliteError> {
    match operation_of_turn(db, turn)? {
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

/// Stores the result in the operation and in its pending message.
fn store(
    db: &Connection,
    operation: &Operation,
    result: &OperationResult,
) -> Result<(), SqliteError> {
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
        _ => Err(SqliteError::broken("the pending row of an operation cannot be found")),
    }
}

/// Whether the turn may be pushed: a turn held by a worker stays with it, and a resting one needs a permit first.
fn make_due(
    db: &Connection,
    now: StoreTime,
    caps: UserLimits,
    turn: &TurnId,
) -> Result<bool, SqliteError> {
    if end_rest(db, now, caps, turn)? {
        return Ok(true);
    }
    let turn =
        by_id(db, turn)?.ok_or_else(|| SqliteError::broken("an operation has lost its turn"))?;
    Ok(turn.status == TurnStatus::Queued && (turn.admitted || turn.cancel_requested))
}
