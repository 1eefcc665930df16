//! Yields a turn's concurrency permit while the turn waits for other work, and reacquires it.

use ports::Fenced;
use protocol::TurnId;
use protocol::limits::UserLimits;
use protocol::turn::TurnClaim;
use rusqlite::Connection;

use super::claimed_rows::find_claimed;
use super::permits::{admit, turn_quota_key};
use crate::sqlite::StoreTime;
use crate::sqlite::error::SqliteError;
use crate::sqlite::write_job::WriteOutput;

pub(crate) fn yield_permit(
    db: &Connection,
    now: StoreTime,
    caps: UserLimits,
    claim: &TurnClaim,
) -> Result<WriteOutput<Fenced<Vec<TurnId>>>, SqliteError> {
    if find_claimed(db, claim)?.is_none() {
        return Ok(WriteOutput::silent(Fenced::Stale));
    }
    // A turn that wanted its permit back and waits again no longer wants it.
    db.prepare_cached("UPDATE turn SET aside = 1 WHERE id = ?1 AND admitted = 1")?
        .execute([claim.turn_id.as_str()])?;
    let due = admit(db, now, caps, &turn_quota_key(db, &claim.turn_id)?)?;
    Ok(WriteOutput::silent(Fenced::Done(due)))
}

pub(crate) fn reacquire_permit(
    db: &Connection,
    now: StoreTime,
    caps: UserLimits,
    claim: &TurnClaim,
) -> Result<WriteOutput<Fenced<bool>>, SqliteError> {
    if find_claimed(db, claim)?.is_none() {
        return Ok(WriteOutput::silent(Fenced::Stale));
    }
    let wants = db
        .prepare_cached("UPDATE turn SET aside = 2 WHERE id = ?1 AND aside <> 0")?
        .execute([claim.turn_id.as_str()])?;
    if wants > 0 {
        admit(db, now, caps, &turn_quota_key(db, &claim.turn_id)?)?;
    }
    let has_place = db
        .prepare_cached("SELECT aside = 0 FROM turn WHERE id = ?1")?
        .query_row([claim.turn_id.as_str()], |row| row.get(0))?;
    Ok(WriteOutput::silent(Fenced::Done(has_place)))
}
