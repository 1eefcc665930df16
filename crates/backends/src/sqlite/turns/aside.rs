//! Turns that wait for other work and lend their place to others meanwhile.

use ports::Fenced;
use protocol::TurnId;
use protocol::limits::UserLimits;
use protocol::turn::TurnClaim;
use rusqlite::Connection;

use super::super::Moment;
use super::super::fault::Fault;
use super::super::job::Done;
use super::held;
use super::places::{admit, slot_of_turn};

pub(super) fn step_aside(
    db: &Connection,
    now: Moment,
    caps: UserLimits,
    claim: &TurnClaim,
) -> Result<Done<Fenced<Vec<TurnId>>>, Fault> {
    if held(db, claim)?.is_none() {
        return Ok(Done::quietly(Fenced::Stale));
    }
    // One that wanted its place back and now waits again no longer wants it.
    db.prepare_cached("UPDATE turn SET aside = 1 WHERE id = ?1 AND admitted = 1")?
        .execute([claim.turn_id.as_str()])?;
    let due = admit(db, now, caps, &slot_of_turn(db, &claim.turn_id)?)?;
    Ok(Done::quietly(Fenced::Done(due)))
}

pub(super) fn step_back(
    db: &Connection,
    now: Moment,
    caps: UserLimits,
    claim: &TurnClaim,
) -> Result<Done<Fenced<bool>>, Fault> {
    if held(db, claim)?.is_none() {
        return Ok(Done::quietly(Fenced::Stale));
    }
    let wants = db
        .prepare_cached("UPDATE turn SET aside = 2 WHERE id = ?1 AND aside <> 0")?
        .execute([claim.turn_id.as_str()])?;
    if wants > 0 {
        admit(db, now, caps, &slot_of_turn(db, &claim.turn_id)?)?;
    }
    let has_place = db
        .prepare_cached("SELECT aside = 0 FROM turn WHERE id = ?1")?
        .query_row([claim.turn_id.as_str()], |row| row.get(0))?;
    Ok(Done::quietly(Fenced::Done(has_place)))
}
