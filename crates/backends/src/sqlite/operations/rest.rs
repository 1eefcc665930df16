//! Operations whose work is done elsewhere: their turns rest without a permit and without a worker.

use std::time::Duration;

use ports::Fenced;
use protocol::limits::UserLimits;
use protocol::turn::TurnClaim;
use rusqlite::{Connection, params};

use super::carried_out;
use crate::sqlite::StoreTime;
use crate::sqlite::boot_clock::millis;
use crate::sqlite::error::SqliteError;
use crate::sqlite::turns::claim::release_lease;
use crate::sqlite::turns::claimed_rows::find_claimed;
use crate::sqlite::turns::permits::{admit, turn_quota_key};
use crate::sqlite::write_job::WriteOutput;

pub(crate) fn accepted(
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
    if carried_out(db, claim)?.result.is_some() || is_cancelled(db, claim)? {
        release_lease(db, turn, Some(now.ms))?;
        return Ok(WriteOutput::silent(Fenced::Done(())));
    }
    let at_most = millis(at_most);
    db.prepare_cached(
        "UPDATE operation SET state = 'accepted', at_most_ms = ?2 WHERE turn_id = ?1",
    )?
    .execute(params![turn.as_str(), at_most])?;
    release_lease(db, turn, Some(now.ms + at_most))?;
    db.prepare_cached("UPDATE turn SET rests = 1, admitted = 0, aside = 0 WHERE id = ?1")?
        .execute([turn.as_str()])?;
    admit(db, now, caps, &turn_quota_key(db, turn)?)?;
    Ok(WriteOutput::silent(Fenced::Done(())))
}

fn is_cancelled(db: &Connection, claim: &TurnClaim) -> Result<bool, SqliteError> {
    let cancelled = db
        .prepare_cached("SELECT cancel_requested FROM turn WHERE id = ?1")?
        .query_row([claim.turn_id.as_str()], |row| row.get(0))?;
    Ok(cancelled)
}
