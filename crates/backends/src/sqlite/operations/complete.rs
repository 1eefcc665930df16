//! Completes an operation before its turn ends.

use ports::store::{OperationCompleted, OperationKey};
use protocol::TurnId;
use protocol::limits::UserLimits;
use protocol::operation::OperationResult;
use protocol::turn::TurnStatus;
use rusqlite::Connection;

use super::find;
use super::result::store;
use crate::sqlite::StoreTime;
use crate::sqlite::error::SqliteError;
use crate::sqlite::turns::by_id;
use crate::sqlite::turns::permits::end_rest;
use crate::sqlite::write_job::WriteOutput;

pub(crate) fn complete(
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
