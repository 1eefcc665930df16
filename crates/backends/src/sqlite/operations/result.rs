//! Stores the result of an operation, in its own row and in the history. The first result is kept.

use protocol::TurnId;
use protocol::operation::{Operation, OperationResult};
use rusqlite::{Connection, params};

use super::operation_of_turn;
use crate::sqlite::error::SqliteError;

/// Stores the result of the turn's operation, if it carries out one without a result.
pub(crate) fn store_of_turn(
    db: &Connection,
    turn: &TurnId,
    result: impl FnOnce() -> OperationResult,
) -> Result<(), SqliteError> {
    match operation_of_turn(db, turn)? {
        Some(operation) if operation.result.is_none() => store(db, &operation, &result()),
        _ => Ok(()),
    }
}

/// Stores the result in the operation and in its pending message.
pub(crate) fn store(
    db: &Connection,
    operation: &Operation,
    result: &OperationResult,
) -> Result<(), SqliteError> {
    let outcome = result.outcome.as_str();
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
