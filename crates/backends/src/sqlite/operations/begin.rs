//! Begins an operation: stores the operation, its turn and the pending message in one transaction.

use ports::Fenced;
use ports::store::{NewOperation, OperationBegun, OperationKey};
use protocol::limits::{OPERATIONS, UserLimits};
use protocol::operation::{Operation, OperationState};
use protocol::turn::TurnClaim;
use protocol::{CallId, SessionId, TurnId};
use rusqlite::{Connection, OptionalExtension, params};

use super::find;
use crate::live::StoreEvent;
use crate::rows::operations::{operation, operation_columns};
use crate::rules::new_operation::check_pending;
use crate::rules::submission_key::SubmissionKey;
use crate::sqlite::boot_clock::millis;
use crate::sqlite::error::SqliteError;
use crate::sqlite::turns::claimed_rows::find_claimed;
use crate::sqlite::turns::insert::{self, NewTurnRow};
use crate::sqlite::turns::permits::{permit_usage, session_quota_key};
use crate::sqlite::write_job::WriteOutput;
use crate::sqlite::{StoreTime, messages};

pub(crate) fn begin(
    db: &Connection,
    now: StoreTime,
    caps: UserLimits,
    claim: &TurnClaim,
    new: &NewOperation,
) -> Result<WriteOutput<Fenced<OperationBegun>>, SqliteError> {
    let Some(asking) = find_claimed(db, claim)? else {
        return Ok(WriteOutput::silent(Fenced::Stale));
    };
    if let Some(operation) = of_call(db, &claim.turn_id, &new.call.id)? {
        return Ok(WriteOutput::silent(Fenced::Done(OperationBegun::Exists(Box::new(operation)))));
    }
    if not_ended(db, &claim.session_id)? >= OPERATIONS {
        return Ok(WriteOutput::silent(Fenced::Done(OperationBegun::TooMany)));
    }
    check_pending(new)?;
    messages::insert_result(db, asking.message_position(claim, now.wall_us), &new.pending)?;
    let due = add_turn(db, now, caps, claim, new)?;
    add_operation(db, now, claim, new)?;
    let operation = find(db, &OperationKey::Operation(new.id.clone()))?
        .ok_or_else(|| SqliteError::broken("a new operation cannot be found"))?;
    let begun = OperationBegun::New { operation: Box::new(operation), due };
    Ok(WriteOutput::with_event(Fenced::Done(begun), StoreEvent::LogOpened(new.turn_id.task())))
}

fn of_call(
    db: &Connection,
    asking: &TurnId,
    call: &CallId,
) -> Result<Option<Operation>, SqliteError> {
    let found = db
        .prepare_cached(concat!(
            "SELECT ",
            operation_columns!(),
            " FROM operation AS p WHERE p.asked_by = ?1 AND p.call_id = ?2"
        ))?
        .query_row([asking.as_str(), call.as_str()], |row| operation(row))
        .optional()?;
    Ok(found)
}

fn not_ended(db: &Connection, session: &SessionId) -> Result<u32, SqliteError> {
    let count = db
        .prepare_cached(
            "SELECT count(*) FROM operation WHERE session_id = ?1 AND state <> 'ended'",
        )?
        .query_row([session.as_str()], |row| row.get(0))?;
    Ok(count)
}

/// Returns whether the turn may be pushed now.
fn add_turn(
    db: &Connection,
    now: StoreTime,
    caps: UserLimits,
    claim: &TurnClaim,
    new: &NewOperation,
) -> Result<bool, SqliteError> {
    let quota_key = session_quota_key(db, &claim.session_id)?;
    let admitted = permit_usage(db, &quota_key)?.has_free_permit(caps);
    let beside: i64 = db
        .prepare_cached(
            "UPDATE session SET last_beside = last_beside + 1 WHERE id = ?1 RETURNING last_beside",
        )?
        .query_row([claim.session_id.as_str()], |row| row.get(0))?;
    let row = NewTurnRow {
        id: &new.turn_id,
        session: &claim.session_id,
        ordinal: -beside,
        request: &new.request,
        submission: SubmissionKey::default(),
        parent: Some(&claim.turn_id),
        quota_key: &quota_key,
        due_ms: admitted.then(|| now.ms + millis(new.push_grace)),
    };
    insert::insert(db, now, &row)?;
    // An earlier cancel of the calling turn applies to this turn, too.
    db.prepare_cached(
        "UPDATE turn SET cancel_requested =
             (SELECT asking.cancel_requested FROM turn AS asking WHERE asking.id = ?2)
         WHERE id = ?1",
    )?
    .execute([new.turn_id.as_str(), claim.turn_id.as_str()])?;
    Ok(admitted)
}

fn add_operation(
    db: &Connection,
    now: StoreTime,
    claim: &TurnClaim,
    new: &NewOperation,
) -> Result<(), SqliteError> {
    db.prepare_cached(
        "INSERT INTO operation (id, turn_id, session_id, asked_by, call_id, tool_name, arguments,
             state, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?
    .execute(params![
        new.id.as_str(),
        new.turn_id.as_str(),
        claim.session_id.as_str(),
        claim.turn_id.as_str(),
        new.call.id.as_str(),
        new.call.name,
        new.call.arguments,
        OperationState::Running.as_str(),
        now.wall_us,
    ])?;
    Ok(())
}
