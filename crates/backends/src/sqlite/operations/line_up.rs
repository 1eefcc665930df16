//! Moves the turn of an operation to the end of its session's order, to continue the conversation.

use ports::Fenced;
use protocol::limits::UserLimits;
use protocol::turn::TurnClaim;
use rusqlite::{Connection, params};

use super::carried_out;
use crate::sqlite::StoreTime;
use crate::sqlite::error::SqliteError;
use crate::sqlite::turns::claim::release_lease;
use crate::sqlite::turns::claimed_rows::find_claimed;
use crate::sqlite::turns::open_after;
use crate::sqlite::turns::permits::{admit, turn_quota_key};
use crate::sqlite::write_job::WriteOutput;

pub(crate) fn line_up(
    db: &Connection,
    now: StoreTime,
    caps: UserLimits,
    claim: &TurnClaim,
) -> Result<WriteOutput<Fenced<bool>>, SqliteError> {
    let Some(claimed) = find_claimed(db, claim)? else {
        return Ok(WriteOutput::silent(Fenced::Stale));
    };
    if carried_out(db, claim)?.result.is_none() {
        return Err(SqliteError::broken("an operation without a result cannot line up"));
    }
    let turn = &claim.turn_id;
    if claimed.ordinal < 0 {
        join_order(db, claim)?;
    }
    if open_after(db, &claim.session_id, 0)?.is_some_and(|(first, _)| first == *turn) {
        return Ok(WriteOutput::silent(Fenced::Done(true)));
    }
    release_lease(db, turn, None)?;
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
