//! What the turn of an operation does in place of answering: it rests while the work goes on elsewhere, and lines up
//! when it has its result.

use std::time::Duration;

use ports::Fenced;
use protocol::limits::UserLimits;
use protocol::operation::Operation;
use protocol::turn::TurnClaim;
use rusqlite::{Connection, params};

use super::super::boot::millis;
use super::super::fault::Fault;
use super::super::job::Done;
use super::super::turns::places::{admit, slot_of_turn};
use super::super::turns::{held, open_after};
use super::super::{Moment, leases};
use super::carried_out_by;

pub(super) fn accepted(
    db: &Connection,
    now: Moment,
    caps: UserLimits,
    claim: &TurnClaim,
    at_most: Duration,
) -> Result<Done<Fenced<()>>, Fault> {
    if held(db, claim)?.is_none() {
        return Ok(Done::quietly(Fenced::Stale));
    }
    let turn = &claim.turn_id;
    // Whoever has something to do at once keeps its place for it.
    if operation(db, claim)?.result.is_some() || is_cancelled(db, claim)? {
        leases::give_up(db, turn, Some(now.ms))?;
        return Ok(Done::quietly(Fenced::Done(())));
    }
    let at_most = millis(at_most);
    db.prepare_cached(
        "UPDATE operation SET state = 'accepted', at_most_ms = ?2 WHERE turn_id = ?1",
    )?
    .execute(params![turn.as_str(), at_most])?;
    leases::give_up(db, turn, Some(now.ms + at_most))?;
    db.prepare_cached("UPDATE turn SET rests = 1, admitted = 0, aside = 0 WHERE id = ?1")?
        .execute([turn.as_str()])?;
    admit(db, now, caps, &slot_of_turn(db, turn)?)?;
    Ok(Done::quietly(Fenced::Done(())))
}

pub(super) fn line_up(
    db: &Connection,
    now: Moment,
    caps: UserLimits,
    claim: &TurnClaim,
) -> Result<Done<Fenced<bool>>, Fault> {
    let Some(held) = held(db, claim)? else { return Ok(Done::quietly(Fenced::Stale)) };
    if operation(db, claim)?.result.is_none() {
        return Err(Fault::broken("an operation without a result has nothing to go on with"));
    }
    let turn = &claim.turn_id;
    if held.ordinal < 0 {
        join_the_order(db, claim)?;
    }
    if open_after(db, &claim.session_id, 0)?.is_some_and(|(first, _)| first == *turn) {
        return Ok(Done::quietly(Fenced::Done(true)));
    }
    leases::give_up(db, turn, None)?;
    db.prepare_cached("UPDATE turn SET admitted = 0, aside = 0 WHERE id = ?1")?
        .execute([turn.as_str()])?;
    admit(db, now, caps, &slot_of_turn(db, turn)?)?;
    Ok(Done::quietly(Fenced::Done(false)))
}

/// At the end of the session, with what it has said so far.
fn join_the_order(db: &Connection, claim: &TurnClaim) -> Result<(), Fault> {
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

fn operation(db: &Connection, claim: &TurnClaim) -> Result<Operation, Fault> {
    carried_out_by(db, &claim.turn_id)?
        .ok_or_else(|| Fault::broken("the turn carries out no operation"))
}

fn is_cancelled(db: &Connection, claim: &TurnClaim) -> Result<bool, Fault> {
    let cancelled = db
        .prepare_cached("SELECT cancel_requested FROM turn WHERE id = ?1")?
        .query_row([claim.turn_id.as_str()], |row| row.get(0))?;
    Ok(cancelled)
}
