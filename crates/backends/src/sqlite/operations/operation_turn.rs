//! The turn of an operation: rests while the work is done elsewhere, and joins the order of its session once it has
//! its result.

use std::time::Duration;

use ports::Fenced;
use protocol::limits::UserLimits;
use protocol::operation::Operation;
use protocol::turn::TurnClaim;
use rusqlite::{Connection, params};

use super::super::boot_clock::millis;
use super::super::error::SqliteError;
use super::super::turns::permits::{admit, turn_quota_key};
use super::super::turns::{find_claimed, open_after};
use super::super::write_job::WriteOutput;
use super::super::{StoreTime, leases};
use super::operation_of_turn;

pub(super) fn accepted(
    db: &Connection,
    now: StoreTime,
    caps: UserLimits,
    claim: &TurnClaim,
    at_most: Duration,
) -> Result<WriteOutput<Fenced<()>>, SqliteError> {
    if find_claimed(db, claim)?.is_none() {
        return Ok(WriteOutput::silent(Fenced::Stale));
    }
    let turn = &claim.turn_id;
    // A turn that can continue at once keeps its permit.
    if operation(db, claim)?.result.is_some() || is_cancelled(db, claim)? {
        leases::release_lease(db, turn, Some(now.ms))?;
        return Ok(WriteOutput::silent(Fenced::Done(())));
    }
    let at_most = millis(at_most);
    db.prepare_cached(
        "UPDATE operation SET state = 'accepted', at_most_ms = ?2 WHERE turn_id = ?1",
    )?
    .execute(params![turn.as_str(), at_most])?;
    leases::release_lease(db, turn, Some(now.ms + at_most))?;
    db.prepare_cached("UPDATE turn SET rests = 1, admitted = 0, aside = 0 WHERE id = ?1")?
        .execute([turn.as_str()])?;
    admit(db, now, caps, &turn_quota_key(db, turn)?)?;
    Ok(WriteOutput::silent(Fenced::Done(())))
}

pub(super) fn line_up(
    db: &Connection,
    now: StoreTime,
    caps: UserLimits,
    claim: &TurnClaim,
) -> Result<WriteOutput<Fenced<bool>>, SqliteError> {
    let Some(claimed) = find_claimed(db, claim)? else {
        return Ok(WriteOutput::silent(Fenced::Stale));
    };
    if operation(db, claim)?.result.is_none() {
        return Err(SqliteError::broken("an operation without a result cannot line up"));
    }
    let turn = &claim.turn_id;
    if claimed.ordinal < 0 {
        join_order(db, claim)?;
    }
    if open_after(db, &claim.session_id, 0)?.is_some_and(|(first, _)| first == *turn) {
        return Ok(WriteOutput::silent(Fenced::Done(true)));
    }
    leases::release_lease(db, turn, None)?;
    db.prepare_cached("UPDATE turn SET admitted = 0, aside = 0 WHERE id = ?1")?
        .execute([turn.as_str()])?;
    admit(db, now, caps, &turn_quota_key(db, turn)?)?;
    Ok(WriteOutput::silent(Fenced::Done(false)))
}

/// Moves the turn to the end of its session, with the messages it has written so far.
fn join_order(db: &Connection, claim: &TurnClaim) -> Result<(), SqliteError> {
    let (session, turn) = (claim.session_id.as_str(), claim.turn_id.as_str());
    let ordinal: i64 = db
        .prepare_cached(
            "UPDATE session SET last_ordinal = last_ordinal + 1 WHERE id = ?1
             RETURNING last_ordinal",
        )?
        .query_row([session], |row| row.get(0))?;
    db.prepare_cached("UPDATE turn SET ordinal = ?2 WHERE id = ?1")?
        .execute(params![turn, ordinal])?;
    db.prepare_cached("UPDATE message SET ordinal = ?3 WHERE session_id = ?1 AND turn_id = ?2")?
        .execute(params![session, turn, ordinal])?;
    Ok(())
}

fn operation(db: &Connection, claim: &TurnClaim) -> Result<Operation, SqliteError> {
    operation_of_turn(db, &claim.turn_id)?
        .ok_or_else(|| SqliteError::broken("the turn carries out no operation"))
}

fn is_cancelled(db: &Connection, claim: &TurnClaim) -> Result<bool, SqliteError> {
    let cancelled = db
        .prepare_cached("SELECT cancel_requested FROM turn WHERE id = ?1")?
        .query_row([claim.turn_id.as_str()], |row| row.get(0))?;
    Ok(cancelled)
}
